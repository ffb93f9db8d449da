package runtimes

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// The volumes of a pod.
const (
	volumeModels  = "models-dir"
	volumeSocket  = "domain-socket"
	volumeStorage = "storage-config"
	volumeTypes   = "tc-config"
	volumeEtcd    = "etcd-config"
	volumeTLS     = "tls-certs"
)

// build is the input for the parts of a pod.
type build struct {
	Input
	endpoints endpoints
}

func newBuild(in Input) (*build, error) {
	if err := in.Validate(in.Config.BuiltInServerTypes); err != nil {
		return nil, err
	}
	found, err := in.endpoints()
	if err != nil {
		return nil, err
	}
	return &build{Input: in, endpoints: found}, nil
}

func (b *build) adapter() bool { return b.Spec.BuiltInAdapter != nil }

// puller reports whether a container of the mesh loads models from storage. An adapter loads them itself.
func (b *build) puller() bool {
	return !b.adapter() && (b.Spec.StorageHelper == nil || !b.Spec.StorageHelper.Disabled)
}

// containers returns all containers in the order of the product: mesh and the last one of the others are swapped.
func (b *build) containers() []corev1.Container {
	list := []corev1.Container{b.mesh()}
	for i := range b.Spec.Containers {
		list = append(list, b.server(&b.Spec.Containers[i]))
	}
	if b.adapter() {
		list = append(list, b.adapterContainer())
	}
	if b.Config.RESTProxy.Enabled {
		list = append(list, b.proxy())
	}
	last := len(list) - 1
	list[0], list[last] = list[last], list[0]
	if b.puller() {
		list = append(list, b.pullerContainer())
	}
	return list
}

func (b *build) volumes() []corev1.Volume {
	var list []corev1.Volume
	for i := range b.Spec.Volumes {
		list = append(list, *b.Spec.Volumes[i].DeepCopy())
	}
	add := func(name string, source corev1.VolumeSource) {
		list = append(list, corev1.Volume{Name: name, VolumeSource: source})
	}
	secret := func(name string) corev1.VolumeSource {
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}
	}
	add(volumeModels, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: b.modelsSize()}})
	if b.endpoints.folder != "" {
		add(volumeSocket, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	}
	if b.adapter() || b.puller() {
		add(volumeStorage, secret(b.StorageSecret))
	}
	for _, claim := range b.Claims {
		add(claim, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim, ReadOnly: true}})
	}
	add(volumeTypes, corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: volumeTypes},
	}})
	add(volumeEtcd, secret(b.EtcdSecret))
	if b.Config.TLS.SecretName != "" {
		add(volumeTLS, secret(b.Config.TLS.SecretName))
	}
	return list
}

// modelsSize returns 1.5 times the memory limit of the servers. Zero means no limit.
func (b *build) modelsSize() *resource.Quantity {
	var sum int64
	for i := range b.Spec.Containers {
		sum += b.Spec.Containers[i].Resources.Limits.Memory().Value()
	}
	return resource.NewQuantity(sum+sum/2, resource.BinarySI)
}

// scraped returns the annotations for Prometheus.
func (b *build) scraped() map[string]string {
	if !b.Config.Metrics.Enabled {
		return nil
	}
	return map[string]string{
		"prometheus.io/path": "/metrics", "prometheus.io/port": number(b.Config.Metrics.Port),
		"prometheus.io/scheme": b.Config.Metrics.Scheme, "prometheus.io/scrape": "true",
	}
}

func number[N uint16 | int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// mounts returns the mounts of the mesh. The first are the volumes that the servers, the adapter and the puller share.
func (b *build) mounts() []corev1.VolumeMount {
	return []corev1.VolumeMount{{Name: volumeModels, MountPath: "/models"}}
}

func (b *build) claimMounts() (list []corev1.VolumeMount) {
	for _, claim := range b.Claims {
		list = append(list, corev1.VolumeMount{Name: claim, MountPath: "/pvc_mounts/" + claim, ReadOnly: true})
	}
	return list
}

func (b *build) socketMount() []corev1.VolumeMount {
	if b.endpoints.folder == "" {
		return nil
	}
	return []corev1.VolumeMount{{Name: volumeSocket, MountPath: b.endpoints.folder}}
}

func storageMount() corev1.VolumeMount {
	return corev1.VolumeMount{Name: volumeStorage, MountPath: "/storage-config", ReadOnly: true}
}

// amounts returns the resources of a container. The configuration is validated.
func amounts(r settings.Resources) corev1.ResourceRequirements {
	list := func(q settings.Quantities) corev1.ResourceList {
		out := corev1.ResourceList{}
		for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: q.CPU, corev1.ResourceMemory: q.Memory} {
			if amount, err := resource.ParseQuantity(text); err == nil {
				out[name] = amount
			}
		}
		return out
	}
	return corev1.ResourceRequirements{Requests: list(r.Requests), Limits: list(r.Limits)}
}

func unprivileged() *corev1.SecurityContext {
	return &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
}
