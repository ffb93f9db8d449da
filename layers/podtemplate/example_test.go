package podtemplate_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
)

func Example() {
	base := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "server", Image: "server:1", Env: []corev1.EnvVar{{Name: "PORT", Value: "8080"}}},
	}}}
	user := podtemplate.Part{
		From:       "spec.pod",
		Containers: []corev1.Container{{Name: "proxy", Image: "proxy:2"}},
		Env:        map[string][]corev1.EnvVar{"server": {{Name: "LOG", Value: "debug"}, {Name: "PORT", Value: "9090"}}},
	}
	bundle := podtemplate.Part{
		From:    "the CA bundle",
		Volumes: []corev1.Volume{{Name: "ca"}},
		Mounts:  map[string][]corev1.VolumeMount{"server": {{Name: "ca", MountPath: "/etc/ca"}}, "proxy": {{Name: "ca", MountPath: "/ca"}}},
	}

	template, err := podtemplate.Compose(base, user, bundle)
	fmt.Println("error:", err)
	for _, c := range template.Spec.Containers {
		fmt.Println(c.Name, c.Env, c.VolumeMounts[0].MountPath)
	}

	user.Volumes = []corev1.Volume{{Name: "ca", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	_, err = podtemplate.Compose(base, user, bundle)
	fmt.Println("error:", err)
	// Output:
	// error: <nil>
	// server [{PORT 9090 nil} {LOG debug nil}] /etc/ca
	// proxy [] /ca
	// error: spec.pod: volume "ca" is already defined by the CA bundle; choose another name
}
