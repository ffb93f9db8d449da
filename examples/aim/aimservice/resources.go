package aimservice

import (
	"cmp"
	"slices"

	"github.com/reconcilekit/reconcilekit/layers/container"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

const (
	// DefaultPVCHeadroomPercent is added to the size of the weights when neither
	// the service nor a runtime config says otherwise, in percent.
	DefaultPVCHeadroomPercent = 10

	cachePath          = "/workspace/cache"
	defaultGPUResource = "amd.com/gpu"
	cpuPerGPU          = 4
	memoryPerGPU       = 32 // Gi, request
	memoryLimitPerGPU  = 48 // Gi
)

// PVCSize returns the size of a volume for so many bytes of weights with the
// headroom, in whole Gi.
func PVCSize(bytes int64, headroomPercent int32) resource.Quantity {
	const gi = 1 << 30
	// Whole numbers all along: percent of the remainder first, so that nothing overflows.
	extra := bytes/100*int64(headroomPercent) + (bytes%100*int64(headroomPercent)+99)/100
	return *resource.NewQuantity((bytes+extra+gi-1)/gi*gi, resource.BinarySI)
}

// containerResources are the resources of the inference container: by the GPUs of
// the template, then what the template says, then what the service says, by key.
func containerResources(hardware *aimv1alpha1.AIMHardwareRequirements, template, service *corev1.ResourceRequirements) corev1.ResourceRequirements {
	var byGPU corev1.ResourceRequirements
	if _, count := gpuOf(hardware); count > 0 {
		n := int64(count)
		byGPU.Requests = corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewQuantity(n*cpuPerGPU, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(n*memoryPerGPU<<30, resource.BinarySI),
			corev1.ResourceName(cmp.Or(hardware.GPU.ResourceName, defaultGPUResource)): *resource.NewQuantity(n, resource.DecimalSI),
		}
		byGPU.Limits = corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(n*memoryLimitPerGPU<<30, resource.BinarySI)}
	}
	return container.Resources(service, template, &byGPU)
}

// containerEnv is the env of the inference container, sorted by name: defaults,
// runtime config, what the template stands for, its env, the model, and the
// service, each over what is before it.
func containerEnv(
	runtime []corev1.EnvVar, template *aimv1alpha1.AIMServiceTemplateSpecCommon, modelID string, service []corev1.EnvVar,
) []corev1.EnvVar {
	known := func(name, value string) []corev1.EnvVar {
		if value == "" {
			return nil
		}
		return []corev1.EnvVar{{Name: name, Value: value}}
	}
	env := runtimeconfig.MergeEnv(service, known("AIM_MODEL_ID", modelID), template.Env,
		known("AIM_PROFILE_ID", template.ProfileID), known("AIM_METRIC", string(ptr.Deref(template.Metric, ""))),
		known("AIM_PRECISION", string(ptr.Deref(template.Precision, ""))), runtime,
		known("AIM_CACHE_PATH", cachePath), known("VLLM_ENABLE_METRICS", "true"))
	slices.SortFunc(env, func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return env
}
