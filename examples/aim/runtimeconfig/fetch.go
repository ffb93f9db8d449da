package runtimeconfig

import (
	"cmp"
	"context"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// Default is the runtime config of objects that name none; it may be missing.
const Default = "default"

// Result is what was read of the runtime configs of one name.
type Result struct {
	// Name of the runtime configs.
	Name string
	// Merged are the settings of both, nil when there is none.
	Merged *aimv1alpha1.AIMRuntimeConfigCommon

	upper reconcile.FetchResult[*aimv1alpha1.AIMRuntimeConfig]
	lower reconcile.FetchResult[*aimv1alpha1.AIMClusterRuntimeConfig]
}

// Fetch reads the runtime config of the namespace and that of the cluster; an empty name means [Default].
func Fetch(ctx context.Context, r reconcile.Reader, namespace, name string) Result {
	f := Result{Name: cmp.Or(name, Default)}
	f.upper = reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: namespace, Name: f.Name}, &aimv1alpha1.AIMRuntimeConfig{})
	f.lower = reconcile.Fetch(ctx, r, client.ObjectKey{Name: f.Name}, &aimv1alpha1.AIMClusterRuntimeConfig{})
	var upper, lower *aimv1alpha1.AIMRuntimeConfigCommon
	if f.upper.OK() {
		upper = &f.upper.Value.Spec
	}
	if f.lower.OK() {
		lower = &f.lower.Value.Spec
	}
	f.Merged = Merge(upper, lower)
	return f
}

// Env returns the variables of the runtime config, nil when there is none.
func (f Result) Env() []corev1.EnvVar {
	if f.Merged == nil {
		return nil
	}
	return f.Merged.Env
}

// Health reports how the runtime config is: one that is named must exist. Without one, and none needed, it does not apply.
func (f Result) Health() health.Component {
	c := health.Component{Name: "RuntimeConfig", Dependency: health.Upstream}
	switch err := cmp.Or(f.upper.Failure(), f.lower.Failure()); {
	case err != nil:
		c.Errors = []error{err}
	case f.Merged != nil:
		c.State, c.Reason, c.Message = health.Ready, "ConfigResolved", "Runtime config "+f.Name+" is in use"
	case f.Name != Default:
		c.Errors = []error{health.NewError(health.MissingUpstreamDependency, "ConfigNotFound", "RuntimeConfig "+f.Name+" not found", nil)}
	default:
		return health.Component{}
	}
	return c
}

// Reference names the runtime config in use; both, when both exist, as Merged.
func (f Result) Reference() *aimv1alpha1.AIMResolvedReference {
	switch {
	case f.upper.Value != nil:
		ref := aimv1alpha1.ReferenceTo(f.upper.Value)
		if f.lower.Value != nil {
			ref.Scope = aimv1alpha1.AIMResolutionScopeMerged
		}
		return ref
	case f.lower.Value != nil:
		return aimv1alpha1.ReferenceTo(f.lower.Value)
	}
	return nil
}
