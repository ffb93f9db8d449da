package aimservice

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/gpu"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

// TemplateFetchResult is the result of reading the template of a service. At most one of Template and ClusterTemplate has a value.
// With overrides it is the base of the derived template.
type TemplateFetchResult struct {
	// Template is the template of the namespace, or the reason why there is none.
	Template reconcile.FetchResult[*aimv1alpha1.AIMServiceTemplate]
	// ClusterTemplate is the template of the cluster, or the reason why there is none.
	ClusterTemplate reconcile.FetchResult[*aimv1alpha1.AIMClusterServiceTemplate]
	// derived is the template with the overrides, read by derivedName.
	derived     reconcile.FetchResult[*aimv1alpha1.AIMServiceTemplate]
	derivedName string
	// selection is the result of the selection, nil if the service names its template.
	selection *TemplateSelectionResult
	// err is the error of the choice.
	err error
}

// base returns the template that was named or selected, or nil. A cluster template is returned as a template without a namespace.
func (f TemplateFetchResult) base() *aimv1alpha1.AIMServiceTemplate {
	if t := f.ClusterTemplate.Value; t != nil {
		spec := aimv1alpha1.AIMServiceTemplateSpec{AIMServiceTemplateSpecCommon: t.Spec.AIMServiceTemplateSpecCommon}
		return &aimv1alpha1.AIMServiceTemplate{ObjectMeta: t.ObjectMeta, Spec: spec, Status: t.Status}
	}
	return f.Template.Value
}

// resolved returns the template that the service uses: the base, or with overrides the derived template. It returns nil if the
// template does not exist.
func (f TemplateFetchResult) resolved() *aimv1alpha1.AIMServiceTemplate {
	if f.derivedName == "" {
		return f.base()
	}
	return f.derived.Value
}

// fetchTemplate finds the template of a service for a model: the one that the spec names (namespace, then cluster), else the one in
// use while it is Ready, else the best candidate. With overrides it also reads the derived template.
func fetchTemplate(ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService, modelName string) (f TemplateFetchResult) {
	key := client.ObjectKey{Namespace: service.Namespace, Name: strings.TrimSpace(service.Spec.Template.Name)}
	if key.Name == "" {
		f = selectTemplateForModel(ctx, r, service, modelName)
	} else {
		f.Template, f.ClusterTemplate = reconcile.FetchNearest(
			ctx, r, key, &aimv1alpha1.AIMServiceTemplate{}, &aimv1alpha1.AIMClusterServiceTemplate{},
		)
		if f.ClusterTemplate.IsNotFound() {
			f.err = notFound(reasonNotFound, "template", key.Name, key.Namespace)
		}
	}
	if base := f.base(); base != nil && len(overrideParts(service.Spec.Overrides)) > 0 {
		key.Name = derivedTemplateName(base.Name, service.Spec.Overrides, service.UID)
		f.derived, f.derivedName = reconcile.Fetch(ctx, r, key, &aimv1alpha1.AIMServiceTemplate{}), key.Name
	}
	return f
}

// derivedTemplate builds the template of a service with overrides from its base.
func (obs ServiceObservation) derivedTemplate(base *aimv1alpha1.AIMServiceTemplate) *aimv1alpha1.AIMServiceTemplate {
	service, spec := obs.service, base.Spec.AIMServiceTemplateSpecCommon.DeepCopy()
	overrides := service.Spec.Overrides
	spec.Metric = cmp.Or(overrides.Metric, spec.Metric)
	spec.Precision = cmp.Or(overrides.Precision, spec.Precision)
	if wanted := overrides.Hardware; wanted != nil {
		spec.Hardware = cmp.Or(spec.Hardware, &aimv1alpha1.AIMHardwareRequirements{})
		spec.Hardware.GPU, spec.Hardware.CPU = cmp.Or(wanted.GPU, spec.Hardware.GPU), cmp.Or(wanted.CPU, spec.Hardware.CPU)
	}
	spec.ProfileID = "" // the profile has other parameters
	spec.RuntimeConfigName = cmp.Or(service.Spec.RuntimeConfigName, runtimeconfig.Default)
	if len(service.Spec.ImagePullSecrets) > 0 {
		spec.ImagePullSecrets = service.Spec.ImagePullSecrets
	}
	spec.Resources = cmp.Or(service.Spec.Resources, spec.Resources)
	out := &aimv1alpha1.AIMServiceTemplate{
		ObjectMeta: metav1.ObjectMeta{
			Name: obs.templates.derivedName, Namespace: service.Namespace,
			Labels: childLabels(service, obs.runtimeConfig.Merged, nil),
		},
		Spec: aimv1alpha1.AIMServiceTemplateSpec{AIMServiceTemplateSpecCommon: *spec},
	}
	if service.Spec.GetCachingMode() == aimv1alpha1.CachingModeShared {
		out.Spec.Caching = &aimv1alpha1.AIMTemplateCachingConfig{
			Enabled: true, Env: ptr.Deref(base.Spec.Caching, aimv1alpha1.AIMTemplateCachingConfig{}).Env,
		}
	}
	return out
}

// templateHealth returns the health of the template.
func (obs ServiceObservation) templateHealth() health.Component {
	c := health.Component{Name: "Template", Dependency: health.Upstream}
	f := obs.templates
	if t := obs.template; t != nil {
		return templateStates.assess(c, "Template "+t.Name, t.Status.Status)
	}
	failure := cmp.Or(f.Template.Failure(), f.ClusterTemplate.Failure(), f.derived.Failure())
	switch used := obs.service.Status.ResolvedTemplate; {
	case f.err != nil && !obs.running():
		c.Errors = []error{f.err}
	case failure != nil:
		c.Errors = []error{failure}
	case f.derivedName != "":
		c.State, c.Reason, c.Message, c.Dependency = health.Progressing, reasonNotReady, "Making template "+f.derivedName, health.Downstream
	case obs.running() && used != nil:
		c.State, c.Reason, c.Message = health.Ready, reasonResolved, fmt.Sprintf(
			"Template %s is gone or not ready; the model keeps running as it made it", used.Name,
		)
	case f.selection != nil:
		return f.selection.health(c)
	default:
		c.State, c.Reason, c.Message = health.Pending, reasonNotFound, "The template follows from the model, which is not resolved"
	}
	return c
}

// TemplateCandidate is the input of the selection for one template.
type TemplateCandidate struct {
	// Name is the name of the template.
	Name string
	// Namespace is the namespace of the template, empty for a cluster template.
	Namespace string
	// Scope is the scope of the template.
	Scope aimv1alpha1.AIMResolutionScope
	// Spec is the spec of the template.
	Spec aimv1alpha1.AIMServiceTemplateSpecCommon
	// Status is the status of the template.
	Status aimv1alpha1.AIMServiceTemplateStatus
}

// candidateOf converts a template to a candidate.
func candidateOf(t *aimv1alpha1.AIMServiceTemplate) TemplateCandidate {
	scope := aimv1alpha1.ReferenceTo(t).Scope
	return TemplateCandidate{Name: t.Name, Namespace: t.Namespace, Scope: scope, Spec: t.Spec.AIMServiceTemplateSpecCommon, Status: t.Status}
}

// profile returns the profile from the image, empty if it is unknown.
func (c *TemplateCandidate) profile() aimv1alpha1.AIMProfileMetadata {
	return ptr.Deref(c.Status.Profile, aimv1alpha1.AIMProfile{}).Metadata
}

// metric returns the optimization target of the candidate. The profile takes precedence over the spec.
func (c *TemplateCandidate) metric() string {
	return string(cmp.Or(c.profile().Metric, ptr.Deref(c.Spec.Metric, "")))
}

// precision returns the number format of the candidate.
func (c *TemplateCandidate) precision() string {
	return string(cmp.Or(c.profile().Precision, ptr.Deref(c.Spec.Precision, "")))
}

// gpuModel returns the normalised GPU model that the candidate needs, empty for any or none. The spec, a requirement, takes
// precedence over the profile, a discovery.
func (c *TemplateCandidate) gpuModel() string {
	model, _ := gpuOf(c.Spec.Hardware)
	return gpu.Normalize(cmp.Or(model, c.profile().GPU))
}

// gpuCount returns the number of GPUs that the candidate needs, 0 if it is unknown.
func (c *TemplateCandidate) gpuCount() int32 {
	_, count := gpuOf(c.Spec.Hardware)
	return cmp.Or(count, c.profile().GPUCount)
}

// unavailable returns the reason why the candidate is not usable now, or the empty string.
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

// matches reports whether the candidate matches the overrides. An unknown GPU matches no requirement; the precision auto is no
// requirement.
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
