package aimservice

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// TemplateFetchResult is the outcome of looking for the template of a service. At
// most one of Template and ClusterTemplate has a value; with overrides it is the
// one that the service's own template derives from.
type TemplateFetchResult struct {
	// Template is the template of the namespace, or why there is none.
	Template reconcile.FetchResult[*aimv1alpha1.AIMServiceTemplate]
	// ClusterTemplate is the template of the cluster, or why there is none.
	ClusterTemplate reconcile.FetchResult[*aimv1alpha1.AIMClusterServiceTemplate]
	// derived is the template made of it with overrides; looked for under derivedName.
	derived     reconcile.FetchResult[*aimv1alpha1.AIMServiceTemplate]
	derivedName string
	// selection is the outcome of a selection; nil when the service names its template.
	selection *TemplateSelectionResult
	// err is what is wrong with the choice itself.
	err error
}

// template is a template of either scope.
type template struct {
	TemplateCandidate
	uid        types.UID
	cachingEnv []corev1.EnvVar
}

func templateOf(t *aimv1alpha1.AIMServiceTemplate) *template {
	out := &template{uid: t.UID, TemplateCandidate: TemplateCandidate{
		Name: t.Name, Namespace: t.Namespace, Scope: aimv1alpha1.AIMResolutionScopeNamespace,
		Spec: t.Spec.AIMServiceTemplateSpecCommon, Status: t.Status,
	}}
	if t.Spec.Caching != nil {
		out.cachingEnv = t.Spec.Caching.Env
	}
	return out
}

func clusterTemplateOf(t *aimv1alpha1.AIMClusterServiceTemplate) *template {
	return &template{uid: t.UID, TemplateCandidate: TemplateCandidate{
		Name: t.Name, Scope: aimv1alpha1.AIMResolutionScopeCluster, Spec: t.Spec.AIMServiceTemplateSpecCommon, Status: t.Status,
	}}
}

// base returns the template that was named or selected, nil when there is none.
func (f TemplateFetchResult) base() *template {
	switch {
	case f.Template.Value != nil:
		return templateOf(f.Template.Value)
	case f.ClusterTemplate.Value != nil:
		return clusterTemplateOf(f.ClusterTemplate.Value)
	}
	return nil
}

// resolved returns the template that the service uses: the base, or with overrides
// the one derived from it; nil when it does not exist.
func (f TemplateFetchResult) resolved() *template {
	if f.derivedName == "" {
		return f.base()
	}
	if f.derived.Value == nil {
		return nil
	}
	return templateOf(f.derived.Value)
}

// fetchTemplate finds the template of a service for a model: the one that it names
// (namespace, then cluster), else the one that it uses already while that is Ready,
// else the best candidate; and with overrides the one derived from it.
func fetchTemplate(ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService, modelName string) TemplateFetchResult {
	var f TemplateFetchResult
	if name := strings.TrimSpace(service.Spec.Template.Name); name != "" {
		f.Template = reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: service.Namespace, Name: name}, &aimv1alpha1.AIMServiceTemplate{})
		if f.Template.IsNotFound() {
			f.ClusterTemplate = reconcile.Fetch(ctx, r, client.ObjectKey{Name: name}, &aimv1alpha1.AIMClusterServiceTemplate{})
			if f.ClusterTemplate.IsNotFound() {
				f.err = health.NewError(health.MissingUpstreamDependency, reasonNotFound,
					fmt.Sprintf("template %q not found in namespace %s or cluster scope", name, service.Namespace), nil)
			}
		}
	} else {
		f = selectTemplateForModel(ctx, r, service, modelName)
	}
	if base := f.base(); base != nil && len(overrideParts(service.Spec.Overrides)) > 0 {
		f.derivedName, f.err = derivedTemplateName(base.Name, service.Spec.Overrides, string(service.UID))
		f.derived = reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: service.Namespace, Name: f.derivedName}, &aimv1alpha1.AIMServiceTemplate{})
	}
	return f
}

// derivedTemplate builds the template of a service with overrides from the one that
// it named or selected.
func (obs ServiceObservation) derivedTemplate(base *template) *aimv1alpha1.AIMServiceTemplate {
	service, spec := obs.service, base.Spec.DeepCopy()
	overrides := service.Spec.Overrides
	spec.Metric = cmp.Or(overrides.Metric, spec.Metric)
	spec.Precision = cmp.Or(overrides.Precision, spec.Precision)
	if overrides.Hardware != nil {
		if spec.Hardware == nil {
			spec.Hardware = &aimv1alpha1.AIMHardwareRequirements{}
		}
		spec.Hardware.GPU = cmp.Or(overrides.Hardware.GPU, spec.Hardware.GPU)
		spec.Hardware.CPU = cmp.Or(overrides.Hardware.CPU, spec.Hardware.CPU)
	}
	spec.ProfileID = "" // it names a profile with other parameters
	spec.RuntimeConfigName = runtimeConfigName(service)
	if len(service.Spec.ImagePullSecrets) > 0 {
		spec.ImagePullSecrets = service.Spec.ImagePullSecrets
	}
	spec.Resources = cmp.Or(service.Spec.Resources, spec.Resources)
	out := &aimv1alpha1.AIMServiceTemplate{
		ObjectMeta: metav1.ObjectMeta{
			Name: obs.templates.derivedName, Namespace: service.Namespace, Labels: childLabels(service, obs.config, nil),
		},
		Spec: aimv1alpha1.AIMServiceTemplateSpec{AIMServiceTemplateSpecCommon: *spec},
	}
	if service.Spec.GetCachingMode() == aimv1alpha1.CachingModeShared {
		out.Spec.Caching = &aimv1alpha1.AIMTemplateCachingConfig{Enabled: true, Env: base.cachingEnv}
	}
	return out
}

// templateHealth tells how the template is.
func (obs ServiceObservation) templateHealth() health.Component {
	c := health.Component{Name: "Template", Dependency: health.Upstream}
	f := obs.templates
	if obs.template == nil {
		switch {
		case f.err != nil && !obs.running():
			c.Errors = []error{f.err}
		case client.IgnoreNotFound(f.Template.Error) != nil:
			c.Errors = []error{f.Template.Error}
		case client.IgnoreNotFound(f.ClusterTemplate.Error) != nil:
			c.Errors = []error{f.ClusterTemplate.Error}
		case client.IgnoreNotFound(f.derived.Error) != nil:
			c.Errors = []error{f.derived.Error}
		case f.derivedName != "":
			c.State, c.Reason, c.Dependency = health.Progressing, reasonNotReady, health.Downstream
			c.Message = "Making template " + f.derivedName
		case obs.running() && obs.service.Status.ResolvedTemplate != nil:
			c.State, c.Reason = health.Ready, "Resolved"
			c.Message = fmt.Sprintf("Template %s is gone; the model keeps running as it made it", obs.service.Status.ResolvedTemplate.Name)
		case f.selection != nil:
			return f.selection.health(c)
		default:
			c.State, c.Reason, c.Message = health.Pending, reasonNotFound, "The template follows from the model, which is not resolved"
		}
		return c
	}
	status := obs.template.Status.Status
	c = dependencyHealth(c, "Template "+obs.template.Name, status, "Resolved", reasonNotReady)
	if status == aimv1alpha1.AIMStatusNotAvailable {
		c.State = health.NotAvailable
	}
	return c
}
