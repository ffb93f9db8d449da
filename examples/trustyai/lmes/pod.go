package lmes

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

const (
	driverContainer = "driver"
	mainContainer   = "main"
)

// podOf contains the inputs of a pod.
type podOf struct {
	job                    *v1alpha1.LMEvalJob
	settings               settings
	mainImage, driverImage string
	bundle                 bool // the CA certificates are mounted
}

// build returns the pod of this generation of the spec.
func (p podOf) build() *corev1.Pod {
	job, spec := p.job, &p.job.Spec
	user := ptr.Deref(spec.Pod, v1alpha1.EvalPod{})
	container := ptr.Deref(user.Container, v1alpha1.EvalContainer{})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name, Annotations: copied(job.Annotations)}}
	pod.Labels = map[string]string{"app.kubernetes.io/name": "ta-lmes"}
	maps.Copy(pod.Labels, copied(job.Labels))
	pod.Annotations[generation] = strconv.FormatInt(job.Generation, 10)
	confined := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	volumes, mounts := p.storage()
	pod.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Affinity:      user.Affinity,
		SecurityContext: cmp.Or(user.SecurityContext, &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}),
		InitContainers: []corev1.Container{{
			Name: driverContainer, Image: p.driverImage, ImagePullPolicy: p.settings.pullPolicy,
			Command: []string{"/bin/driver", "--copy", driver}, SecurityContext: confined, VolumeMounts: mounts[:1],
		}},
		Containers: append([]corev1.Container{{
			Name: mainContainer, Image: p.mainImage, ImagePullPolicy: p.settings.pullPolicy,
			Command: command(spec, p.settings), Args: arguments(spec, p.settings), Env: p.env(container.Env),
			Ports: []corev1.ContainerPort{{
				ContainerPort: int32(p.settings.port), Protocol: corev1.ProtocolTCP, //nolint:gosec // the API server limits it
			}},
			Resources:       ptr.Deref(container.Resources, corev1.ResourceRequirements{}),
			SecurityContext: cmp.Or(container.SecurityContext, confined),
			VolumeMounts:    append(mounts, container.VolumeMounts...),
		}}, user.SideCars...),
		Volumes: append(volumes, user.Volumes...),
	}
	return pod
}

// copied returns the labels or annotations without those of kubectl, of the engine, and of a queue. With the latter the pod would be
// queued a second time.
func copied(from map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range from {
		domain, _, _ := strings.Cut(key, "/")
		switch {
		case key == corev1.LastAppliedConfigAnnotation, domain == "kueue.x-k8s.io", domain == "applyset.kubernetes.io",
			strings.HasPrefix(domain, "reconcilekit."):
		default:
			out[key] = value
		}
	}
	return out
}

// storage returns the volumes and their mounts. The first volume contains the driver.
func (p podOf) storage() (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	spec := &p.job.Spec
	add := func(name, path string, from corev1.VolumeSource) {
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: from})
		mounts = append(mounts, corev1.VolumeMount{Name: name, MountPath: path})
	}
	claim := func(name, path, claim string) {
		if claim != "" {
			add(name, path, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}})
		}
	}
	secret := func(name, path string, key *corev1.SecretKeySelector, file string) {
		if key != nil {
			items := []corev1.KeyToPath{{Key: key.Key, Path: file}}
			add(name, path, corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: key.Name, Items: items}})
			mounts[len(mounts)-1].ReadOnly = true
		}
	}
	add("shared", "/opt/app-root/src/bin", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	claim("outputs", outputPath, claimOf(p.job))
	if offline := spec.Offline; offline != nil {
		claim("offline", "/opt/app-root/src/hf_home", ptr.Deref(offline.Storage.PVCName, ""))
		if s3 := offline.Storage.S3; s3 != nil && s3.CABundle != nil {
			secret("certificates-s3", "/etc/certificates/s3", s3.CABundle, s3.CABundle.Key)
		}
	}
	if spec.Outputs != nil && spec.Outputs.OCI != nil {
		secret("docker-config", "/tmp/.docker", spec.Outputs.OCI.DockerConfigJSON, "config.json")
	}
	if p.bundle {
		add("odh-ca-bundle", bundlePath, corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: bundleName(p.job)}},
		})
		mounts[len(mounts)-1].SubPath, mounts[len(mounts)-1].ReadOnly = bundleKey, true
	}
	return volumes, mounts
}

// managedClaim returns the name of the claim that the operator creates.
func managedClaim(job *v1alpha1.LMEvalJob) string { return job.Name + "-pvc" }

// claimOf returns the claim of the results, or the empty string.
func claimOf(job *v1alpha1.LMEvalJob) string {
	switch outputs := job.Spec.Outputs; {
	case outputs == nil:
		return ""
	case outputs.PVCManaged != nil:
		return managedClaim(job)
	default:
		return ptr.Deref(outputs.PVCName, "")
	}
}
