package container

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Resources merges the resources of a container by request, limit and name, the most specific first.
//
// The requests and limits of an extended resource (and of huge pages) must be equal, so a layer that sets one of them sets both; see
// https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources. All claims come from the first layer
// that has any.
func Resources(list ...*corev1.ResourceRequirements) corev1.ResourceRequirements {
	var merged corev1.ResourceRequirements
	for _, layer := range slices.Backward(list) {
		if layer == nil {
			continue
		}
		merged.Requests = overlay(layer.Requests, overlay(onlyExtended(layer.Limits), merged.Requests))
		merged.Limits = overlay(layer.Limits, overlay(onlyExtended(layer.Requests), merged.Limits))
		if len(layer.Claims) > 0 {
			merged.Claims = slices.Clone(layer.Claims)
		}
	}
	return merged
}

// overlay merges upper over lower by name into a new list. It returns lower if upper is empty.
func overlay(upper, lower corev1.ResourceList) corev1.ResourceList {
	if len(upper) == 0 {
		return lower
	}
	merged := make(corev1.ResourceList, len(upper)+len(lower))
	for _, layer := range []corev1.ResourceList{lower, upper} {
		for name, quantity := range layer {
			merged[name] = quantity.DeepCopy()
		}
	}
	return merged
}

// onlyExtended returns the extended resources of the list.
func onlyExtended(list corev1.ResourceList) corev1.ResourceList {
	var extended corev1.ResourceList
	for name, quantity := range list {
		if !isExtended(name) {
			continue
		}
		if extended == nil {
			extended = corev1.ResourceList{}
		}
		extended[name] = quantity
	}
	return extended
}

// isExtended reports whether a resource cannot be overcommitted: huge pages, and names outside the domain of Kubernetes.
func isExtended(name corev1.ResourceName) bool {
	domain, _, qualified := strings.Cut(string(name), "/")
	return qualified && !strings.HasSuffix(domain, "kubernetes.io") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
