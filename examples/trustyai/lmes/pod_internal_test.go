package lmes

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestStorage checks that each source has its own volume, which only the main container mounts; the driver mounts the
// shared one.
func TestStorage(t *testing.T) {
	t.Parallel()
	secret := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}
	job := &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Spec: *valid()}
	job.Spec.Outputs = &v1alpha1.Outputs{PVCName: new("mine"), OCI: &v1alpha1.OCIRegistry{Registry: *secret, DockerConfigJSON: secret}}
	job.Spec.Offline = &v1alpha1.Offline{Storage: v1alpha1.OfflineStorage{PVCName: new("models"), S3: &v1alpha1.S3{CABundle: secret}}}
	job.Spec.Pod = &v1alpha1.EvalPod{
		Volumes:   []corev1.Volume{{Name: "user"}},
		SideCars:  []corev1.Container{{Name: "side"}},
		Container: &v1alpha1.EvalContainer{VolumeMounts: []corev1.VolumeMount{{Name: "user", MountPath: "/user"}}},
	}
	spec := podOf{job: job, bundle: true}.build().Spec
	var mounts, volumes []string
	for _, m := range spec.Containers[0].VolumeMounts {
		mounts = append(mounts, m.Name+" "+m.MountPath)
	}
	for _, v := range spec.Volumes {
		volumes = append(volumes, v.Name)
	}
	if diff := cmp.Diff([]string{
		"shared /opt/app-root/src/bin", "outputs /opt/app-root/src/output", "offline /opt/app-root/src/hf_home",
		"certificates-s3 /etc/certificates/s3",
		"docker-config /tmp/.docker", "odh-ca-bundle /etc/ssl/certs/odh-ca-bundle.crt", "user /user",
	}, mounts); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shared", "outputs", "offline", "certificates-s3", "docker-config", "odh-ca-bundle", "user"}, volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	if got := spec.InitContainers[0].VolumeMounts; len(got) != 1 || got[0].Name != "shared" {
		t.Errorf("the driver mounts %v", got)
	}
	if spec.Volumes[1].PersistentVolumeClaim.ClaimName != "mine" || spec.Containers[1].Name != "side" {
		t.Errorf("got %v, %v", spec.Volumes[1], spec.Containers[1])
	}
	job.Spec.Outputs.PVCManaged = &v1alpha1.ManagedClaim{Size: "1Gi"}
	if got := claimOf(job); got != "job-pvc" {
		t.Errorf("the managed claim does not take precedence: %s", got)
	}
}

// TestMetadata checks that the pod has the generation of the job and its labels and annotations, except those that
// identify the job itself.
func TestMetadata(t *testing.T) {
	t.Parallel()
	job := &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{
		Name: "job", Generation: 3,
		Labels: map[string]string{
			"team": "a", "app.kubernetes.io/name": "mine", "kueue.x-k8s.io/queue-name": "q", "applyset.kubernetes.io/id": "x",
		},
		Annotations: map[string]string{
			"note": "x", generation: "2", corev1.LastAppliedConfigAnnotation: "{}", "reconcilekit.dev/x": "y", "reconcilekit.github.io/x": "y",
		},
	}}
	pod := podOf{job: job}.build()
	if diff := cmp.Diff(map[string]string{"team": "a", "app.kubernetes.io/name": "mine"}, pod.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"note": "x", generation: "3"}, pod.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// TestProtected checks that users cannot set variables that depend on the permissions of the job.
func TestProtected(t *testing.T) {
	t.Parallel()
	job := &v1alpha1.LMEvalJob{Spec: *valid()}
	job.Spec.AllowCodeExecution, job.Spec.AllowOnline = new(true), new(true)
	var user []corev1.EnvVar
	for _, name := range slices.Concat(executionVariables, offlineVariables) {
		user = append(user, corev1.EnvVar{Name: name, Value: "user"})
	}
	for _, permitted := range []bool{false, true} {
		want := map[string]string{"TRUST_REMOTE_CODE": "0", "UNITXT_ALLOW_UNVERIFIED_CODE": "False", "HF_HUB_OFFLINE": "1"}
		if permitted {
			want = map[string]string{"TRUST_REMOTE_CODE": "1", "UNITXT_ALLOW_UNVERIFIED_CODE": "True", "HF_HUB_OFFLINE": ""}
		}
		got := map[string]string{}
		for _, v := range (podOf{job: job, settings: settings{permitOnline: permitted, permitExecution: permitted}}).env(user) {
			if v.Value == "user" {
				t.Errorf("permitted %t: the user sets %s", permitted, v.Name)
			}
			got[v.Name] = v.Value
		}
		for name, value := range want {
			if got[name] != value {
				t.Errorf("permitted %t: %s is %q, want %q", permitted, name, got[name], value)
			}
		}
	}
}
