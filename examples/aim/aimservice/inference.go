package aimservice

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/layers/container"
	"github.com/reconcilekit/reconcilekit/naming"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

const (
	sharedMemory    = "dshm"
	predictorSuffix = "-predictor"
)

// inferenceService builds the InferenceService of a service.
func (obs ServiceObservation) inferenceService() *kserve.InferenceService {
	service, template := obs.service, obs.template
	modelID := ""
	if sources := template.Status.ModelSources; len(sources) > 0 {
		modelID = sources[0].ModelID
	}
	env := containerEnv(obs.runtimeConfig.Env(), &template.Spec.AIMServiceTemplateSpecCommon, modelID, service.Spec.Env)
	volumes, mounts := obs.volumes()
	minimum, maximum, annotations := replicas(&service.Spec, obs.isvcName)
	predictor := kserve.Predictor{
		MinReplicas: &minimum,
		MaxReplicas: maximum,
		Containers: []corev1.Container{{
			Name:         "kserve-container",
			Image:        obs.model.Spec.Image,
			Env:          env,
			Ports:        []corev1.ContainerPort{{Name: "http", ContainerPort: 8000, Protocol: corev1.ProtocolTCP}},
			Resources:    containerResources(template.Status.ResolvedHardware, template.Spec.Resources, service.Spec.Resources),
			VolumeMounts: mounts,
		}},
		Volumes:            volumes,
		ImagePullSecrets:   service.Spec.ImagePullSecrets,
		ServiceAccountName: service.Spec.ServiceAccountName,
	}
	if affinity := template.Status.ResolvedNodeAffinity; affinity != nil {
		predictor.Affinity = &corev1.Affinity{NodeAffinity: affinity}
	}
	if scaling := service.Spec.AutoScaling; scaling != nil && len(scaling.Metrics) > 0 {
		predictor.AutoScaling = &kserve.AutoScaling{Metrics: scaling.Metrics}
	}
	return &kserve.InferenceService{
		ObjectMeta: metav1.ObjectMeta{
			Name: obs.isvcName, Namespace: service.Namespace, Annotations: annotations,
			Labels: childLabels(service, obs.runtimeConfig.Merged, map[string]string{
				managedByLabel:       product,
				componentLabel:       "inference",
				domain + "template":  naming.LabelValue(template.Name),
				domain + "model":     naming.LabelValue(obs.model.Name),
				domain + "metric":    naming.LabelValue(string(ptr.Deref(template.Spec.Metric, ""))),
				domain + "precision": naming.LabelValue(string(ptr.Deref(template.Spec.Precision, ""))),
			}),
		},
		Spec: kserve.InferenceServiceSpec{Predictor: predictor},
	}
}

// autoscaled reports whether KEDA sets the number of replicas.
func autoscaled(spec *aimv1alpha1.AIMServiceSpec) bool {
	return spec.MinReplicas != nil || spec.MaxReplicas != nil || spec.AutoScaling != nil
}

// replicas returns the bounds of the replicas and the annotations that select the autoscaler.
func replicas(spec *aimv1alpha1.AIMServiceSpec, name string) (minimum, maximum int32, annotations map[string]string) {
	const class = "serving.kserve.io/autoscalerClass"
	if !autoscaled(spec) {
		minimum = ptr.Deref(spec.Replicas, 1)
		return minimum, minimum, map[string]string{class: "none"}
	}
	minimum = ptr.Deref(spec.MinReplicas, 1)
	return minimum, ptr.Deref(spec.MaxReplicas, minimum), map[string]string{
		class:                             "keda",
		"sidecar.opentelemetry.io/inject": name + predictorSuffix,
		"prometheus.kserve.io/port":       "8000",
	}
}

// volumes returns the volumes of the pods and their mounts: shared memory, and the artifacts of the cache. A running
// InferenceService keeps its volumes while its cache is not usable.
func (obs ServiceObservation) volumes() ([]corev1.Volume, []corev1.VolumeMount) {
	volumes := []corev1.Volume{{Name: sharedMemory, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: resource.NewQuantity(8<<30, resource.BinarySI)},
	}}}
	mounts := []corev1.VolumeMount{{Name: sharedMemory, MountPath: "/dev/shm"}}
	if !obs.cache.IsReady() {
		more, where := claimedVolumes(obs.isvc.Value)
		return append(volumes, more...), append(mounts, where...)
	}
	byName := func(a, b aimv1alpha1.AIMResolvedArtifact) int { return cmp.Compare(a.Name, b.Name) }
	artifacts := slices.SortedFunc(maps.Values(obs.cache.Status.Artifacts), byName)
	for _, artifact := range artifacts {
		if artifact.Status == aimv1alpha1.AIMStatusReady && artifact.PersistentVolumeClaim != "" {
			volume, mount := artifactMount(artifact)
			volumes, mounts = append(volumes, volume), append(mounts, mount)
		}
	}
	return volumes, mounts
}

// artifactMount returns the volume of an artifact and its mount in the container.
func artifactMount(artifact aimv1alpha1.AIMResolvedArtifact) (corev1.Volume, corev1.VolumeMount) {
	name := naming.DNSLabel(artifact.Name)
	at := cmp.Or(artifact.MountPoint, path.Join(cachePath, strings.ReplaceAll(artifact.Model, "..", "")))
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: artifact.PersistentVolumeClaim},
	}}, corev1.VolumeMount{Name: name, MountPath: at}
}

// claimedVolumes returns the volumes of an InferenceService with weights, and their mounts.
func claimedVolumes(isvc *kserve.InferenceService) (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	predictor := ptr.Deref(isvc, kserve.InferenceService{}).Spec.Predictor
	volumes = slices.DeleteFunc(slices.Clone(predictor.Volumes), func(v corev1.Volume) bool { return v.PersistentVolumeClaim == nil })
	for _, container := range predictor.Containers {
		for _, mount := range container.VolumeMounts {
			if slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }) {
				mounts = append(mounts, mount)
			}
		}
	}
	return volumes, mounts
}

const (
	// DefaultPVCHeadroomPercent is added to the size of the weights unless the service or a runtime config sets another value, in
	// percent.
	DefaultPVCHeadroomPercent = 10

	cachePath = "/workspace/cache"
)

// PVCSize returns the size of a volume for the given bytes of weights plus the headroom, in whole Gi.
func PVCSize(bytes int64, headroomPercent int32) resource.Quantity {
	const gi = 1 << 30
	// Integer arithmetic: the percentage of the remainder is computed first to avoid an overflow.
	extra := bytes/100*int64(headroomPercent) + (bytes%100*int64(headroomPercent)+99)/100
	return *resource.NewQuantity((bytes+extra+gi-1)/gi*gi, resource.BinarySI)
}

// containerResources returns the resources of the inference container: 4 CPUs and 32Gi of memory, with a limit of 48Gi, for each GPU
// of the template. The template and then the service override them by key.
func containerResources(
	hardware *aimv1alpha1.AIMHardwareRequirements, template, service *corev1.ResourceRequirements,
) corev1.ResourceRequirements {
	var byGPU corev1.ResourceRequirements
	if _, count := gpuOf(hardware); count > 0 {
		n := int64(count)
		byGPU.Requests = corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewQuantity(n*4, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(n*32<<30, resource.BinarySI),
			corev1.ResourceName(cmp.Or(hardware.GPU.ResourceName, "amd.com/gpu")): *resource.NewQuantity(n, resource.DecimalSI),
		}
		byGPU.Limits = corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(n*48<<30, resource.BinarySI)}
	}
	return container.Resources(service, template, &byGPU)
}

// containerEnv returns the environment of the inference container, sorted by name. The layers are: defaults, runtime config, metric
// and precision of the template, its env, the model, and the service. Each overrides the previous ones.
func containerEnv(
	runtime []corev1.EnvVar, template *aimv1alpha1.AIMServiceTemplateSpecCommon, modelID string, service []corev1.EnvVar,
) []corev1.EnvVar {
	known := func(vars ...corev1.EnvVar) []corev1.EnvVar {
		return slices.DeleteFunc(vars, func(v corev1.EnvVar) bool { return v.Value == "" })
	}
	env := runtimeconfig.MergeEnv(service, known(corev1.EnvVar{Name: "AIM_MODEL_ID", Value: modelID}), template.Env, known(
		corev1.EnvVar{Name: "AIM_PROFILE_ID", Value: template.ProfileID},
		corev1.EnvVar{Name: "AIM_METRIC", Value: string(ptr.Deref(template.Metric, ""))},
		corev1.EnvVar{Name: "AIM_PRECISION", Value: string(ptr.Deref(template.Precision, ""))},
	), runtime, known(corev1.EnvVar{Name: "AIM_CACHE_PATH", Value: cachePath}, corev1.EnvVar{Name: "VLLM_ENABLE_METRICS", Value: "true"}))
	slices.SortFunc(env, func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return env
}
