package aimservice

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

const (
	// DefaultPVCHeadroomPercent is added to the size of the weights when neither
	// the service nor a runtime config says otherwise, in percent.
	DefaultPVCHeadroomPercent = 10

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
	out := corev1.ResourceRequirements{}
	gpu := corev1.ResourceName(defaultGPUResource)
	if hardware != nil && hardware.GPU != nil {
		if hardware.GPU.ResourceName != "" {
			gpu = corev1.ResourceName(hardware.GPU.ResourceName)
		}
		if n := int64(hardware.GPU.Requests); n > 0 {
			out.Requests = corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewQuantity(n*cpuPerGPU, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(n*memoryPerGPU<<30, resource.BinarySI),
				gpu:                   *resource.NewQuantity(n, resource.DecimalSI),
			}
			out.Limits = corev1.ResourceList{
				corev1.ResourceMemory: *resource.NewQuantity(n*memoryLimitPerGPU<<30, resource.BinarySI),
				gpu:                   *resource.NewQuantity(n, resource.DecimalSI),
			}
		}
	}
	for _, layer := range []*corev1.ResourceRequirements{template, service} {
		if layer == nil {
			continue
		}
		out.Requests = overlay(out.Requests, layer.Requests)
		out.Limits = overlay(out.Limits, layer.Limits)
		// An extended resource cannot be overcommitted: a request alone moves the limit too, and the other way round.
		request, requested := layer.Requests[gpu]
		limit, limited := layer.Limits[gpu]
		switch {
		case requested && !limited:
			out.Limits = overlay(out.Limits, corev1.ResourceList{gpu: request})
		case limited && !requested:
			out.Requests = overlay(out.Requests, corev1.ResourceList{gpu: limit})
		}
	}
	return out
}

// overlay lays a list over another one, by key; neither is changed.
func overlay(lower, upper corev1.ResourceList) corev1.ResourceList {
	if len(upper) == 0 {
		return lower
	}
	out := corev1.ResourceList{}
	maps.Copy(out, lower)
	maps.Copy(out, upper)
	return out
}
