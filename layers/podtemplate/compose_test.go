package podtemplate_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
)

func base() corev1.PodTemplateSpec {
	t := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers:   []corev1.Container{{Name: "init"}},
		Containers:       []corev1.Container{{Name: "server", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
		Volumes:          []corev1.Volume{{Name: "data"}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}},
	}}
	t.Labels = map[string]string{"app": "server", "tier": "back"}
	return t
}

func TestCompose(t *testing.T) {
	t.Parallel()
	mounts := func(list ...corev1.VolumeMount) map[string][]corev1.VolumeMount {
		return map[string][]corev1.VolumeMount{"server": list}
	}
	secret := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}
	for name, test := range map[string]struct {
		parts []podtemplate.Part // the most specific first
		want  func(*corev1.PodTemplateSpec)
		err   string
	}{
		"nothing": {want: func(*corev1.PodTemplateSpec) {}},
		"containers are appended, the least specific part first": {
			parts: []podtemplate.Part{
				{From: "a", Containers: []corev1.Container{{Name: "last"}}},
				{From: "b", Containers: []corev1.Container{{Name: "middle"}}, InitContainers: []corev1.Container{{Name: "second"}}},
			},
			want: func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: "middle"}, corev1.Container{Name: "last"})
				t.Spec.InitContainers = append(t.Spec.InitContainers, corev1.Container{Name: "second"})
			},
		},
		"variables keep their place and the most specific value": {
			parts: []podtemplate.Part{
				{From: "a", Env: map[string][]corev1.EnvVar{"added": {{Name: "X", Value: "a"}, {Name: "Z", Value: "a"}}}},
				{
					From: "b", Containers: []corev1.Container{{Name: "added", Env: []corev1.EnvVar{{Name: "X", Value: "own"}}}},
					Env: map[string][]corev1.EnvVar{"added": {{Name: "Y", Value: "b"}, {Name: "Z", Value: "b"}}},
				},
			},
			want: func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers = append(t.Spec.Containers, corev1.Container{
					Name: "added", Env: []corev1.EnvVar{{Name: "X", Value: "a"}, {Name: "Y", Value: "b"}, {Name: "Z", Value: "a"}},
				})
			},
		},
		"a part mounts into the container of a more specific one": {
			parts: []podtemplate.Part{
				{From: "a", Containers: []corev1.Container{{Name: "added"}}},
				{From: "b", Mounts: map[string][]corev1.VolumeMount{"added": {{Name: "data", MountPath: "/d"}}}},
			},
			want: func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers = append(t.Spec.Containers, corev1.Container{
					Name: "added", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/d"}},
				})
			},
		},
		"equal items of two parts are added once": {
			parts: []podtemplate.Part{
				{From: "a", Volumes: []corev1.Volume{{Name: "v", VolumeSource: secret}}, Mounts: mounts(corev1.VolumeMount{Name: "v", MountPath: "/v"})},
				{From: "b", Volumes: []corev1.Volume{{Name: "v", VolumeSource: secret}}, Mounts: mounts(corev1.VolumeMount{Name: "v", MountPath: "/v"})},
			},
			want: func(t *corev1.PodTemplateSpec) {
				t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: "v", VolumeSource: secret})
				t.Spec.Containers[0].VolumeMounts = append(t.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "v", MountPath: "/v"})
			},
		},
		"labels and pull secrets": {
			parts: []podtemplate.Part{
				{From: "a", Labels: map[string]string{"app": "a"}, PullSecrets: []corev1.LocalObjectReference{{Name: "c"}, {Name: "registry"}}},
				{From: "b", Labels: map[string]string{"app": "b", "x": "b"}, PullSecrets: []corev1.LocalObjectReference{{Name: "b"}}},
			},
			want: func(t *corev1.PodTemplateSpec) {
				t.Labels = map[string]string{"app": "a", "tier": "back", "x": "b"}
				t.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}, {Name: "b"}, {Name: "c"}}
			},
		},
		"two containers of one name": {
			parts: []podtemplate.Part{{From: "a", Containers: []corev1.Container{{Name: "init", Image: "x"}}}},
			err:   `a: container "init" is already defined by the template; choose another name`,
		},
		"one part defines a volume twice": {
			parts: []podtemplate.Part{{From: "a", Volumes: []corev1.Volume{{Name: "v"}, {Name: "v"}}}},
			err:   `a: volume "v" is defined twice; remove one`,
		},
		"two mounts at one path, written differently": {
			parts: []podtemplate.Part{{From: "a", Mounts: mounts(corev1.VolumeMount{Name: "other", MountPath: "/data/"})}},
			err:   `a: mount at "/data" in container "server" is already defined by the template; choose another name`,
		},
		"an unknown container": {
			parts: []podtemplate.Part{{From: "a", Env: map[string][]corev1.EnvVar{"sever": {{Name: "X"}}}}},
			err:   `a: container "sever" does not exist; want one of server, init`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := podtemplate.Compose(base(), test.parts...)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Fatalf("got error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := base()
			test.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestConflictNamesBothParts(t *testing.T) {
	t.Parallel()
	_, err := podtemplate.Compose(base(),
		podtemplate.Part{From: "near", Volumes: []corev1.Volume{{Name: "v"}}},
		podtemplate.Part{From: "far", Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: "/"},
		}}}},
	)
	var conflict *podtemplate.ConflictError
	if !errors.As(err, &conflict) || conflict.First != "far" || conflict.Second != "near" {
		t.Errorf("got %v", err)
	}
}
