package aimservice

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/gpu"
)

// TemplateCandidate is a template as the selection sees it.
type TemplateCandidate struct {
	// Name of the template.
	Name string
	// Namespace of the template, empty for one of the cluster.
	Namespace string
	// Scope of the template.
	Scope aimv1alpha1.AIMResolutionScope
	// Spec of the template.
	Spec aimv1alpha1.AIMServiceTemplateSpecCommon
	// Status of the template.
	Status aimv1alpha1.AIMServiceTemplateStatus
}

// candidateOf is a template as a candidate.
func candidateOf(
	object metav1.Object, spec *aimv1alpha1.AIMServiceTemplateSpecCommon, status *aimv1alpha1.AIMServiceTemplateStatus,
) TemplateCandidate {
	ref := aimv1alpha1.ReferenceTo(object)
	return TemplateCandidate{Name: ref.Name, Namespace: ref.Namespace, Scope: ref.Scope, Spec: *spec, Status: *status}
}

// gpuOrder is the order of preference among GPUs, the newest first.
var gpuOrder = []string{"MI355X", "MI350X", "MI325X", "MI300X", "MI308X", "MI300A", "MI250X", "MI210", "MI100"}

// profile is what the image says about the candidate; empty when nothing is known.
func (c *TemplateCandidate) profile() *aimv1alpha1.AIMProfileMetadata {
	if c.Status.Profile == nil {
		return &aimv1alpha1.AIMProfileMetadata{}
	}
	return &c.Status.Profile.Metadata
}

// metric is what the candidate is tuned for: the profile knows better than the spec.
func (c *TemplateCandidate) metric() string {
	if m := c.profile().Metric; m != "" || c.Spec.Metric == nil {
		return string(m)
	}
	return string(*c.Spec.Metric)
}

// precision is the number format of the candidate.
func (c *TemplateCandidate) precision() string {
	if p := c.profile().Precision; p != "" || c.Spec.Precision == nil {
		return string(p)
	}
	return string(*c.Spec.Precision)
}

// gpuModel is the normalised GPU model that the candidate needs, empty for any or
// none: the spec is a requirement, the profile a finding.
func (c *TemplateCandidate) gpuModel() string {
	model, _ := gpuOf(c.Spec.Hardware)
	return gpu.Normalize(cmp.Or(model, c.profile().GPU))
}

// gpuCount is the number of GPUs that the candidate needs, 0 when it is not known.
func (c *TemplateCandidate) gpuCount() int32 {
	_, count := gpuOf(c.Spec.Hardware)
	return cmp.Or(count, c.profile().GPUCount)
}

// unavailable reports why the candidate cannot be used now, empty when it can.
func (c *TemplateCandidate) unavailable() string {
	switch status := c.Status.Status; status {
	case aimv1alpha1.AIMStatusReady:
		return ""
	case aimv1alpha1.AIMStatusPending, aimv1alpha1.AIMStatusProgressing, aimv1alpha1.AIMStatusNotAvailable,
		aimv1alpha1.AIMStatusDegraded, aimv1alpha1.AIMStatusFailed:
		return "Template" + string(status)
	default:
		return reasonNotReady
	}
}

// matches reports whether the candidate is what the overrides ask for. What a
// candidate does not say about its GPUs matches no wish; the precision auto asks
// for nothing.
func (c *TemplateCandidate) matches(overrides *aimv1alpha1.AIMServiceOverrides) bool {
	model, count := gpuOf(overrides.Hardware)
	switch {
	case overrides.Metric != nil && !strings.EqualFold(string(*overrides.Metric), c.metric()),
		overrides.Precision != nil && *overrides.Precision != "auto" && string(*overrides.Precision) != c.precision(),
		model != "" && gpu.Normalize(model) != c.gpuModel(),
		count > 0 && count != c.gpuCount():
		return false
	}
	return true
}
