// Package runtimeconfig reads the settings of the product and merges them: those of a namespace override those of the cluster, also
// for env. It also returns which labels children inherit from their owner.
package runtimeconfig

import (
	"cmp"
	"context"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/layers"
	"github.com/reconcilekit/reconcilekit/layers/container"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// Default is the name of the runtime config for objects that name none. It may be missing.
const Default = "default"

// Result contains the runtime configs of one name.
type Result struct {
	// Name is the name of the runtime configs.
	Name string
	// Merged are the merged settings, or nil if there are none.
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
	return ptr.Deref(f.Merged, aimv1alpha1.AIMRuntimeConfigCommon{}).Env
}

// Health returns the health of the runtime config. A named config must exist. If none is named and none exists, the component does
// not apply.
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

// Reference refers to the runtime config in use, as Merged if both exist.
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

// Merge merges the config of the namespace with that of the cluster. A field that the namespace sets wins, also if it is false, 0 or
// empty. Maps are merged by key and env by name; other lists and the gateway are not merged. Merge returns nil if both are nil.
func Merge(namespace, cluster *aimv1alpha1.AIMRuntimeConfigCommon) *aimv1alpha1.AIMRuntimeConfigCommon {
	upper, lower := Migrated(namespace), Migrated(cluster)
	if upper == nil || lower == nil {
		return cmp.Or(upper, lower)
	}
	return &aimv1alpha1.AIMRuntimeConfigCommon{
		Storage: both(upper.Storage, lower.Storage, func(u, l *aimv1alpha1.AIMStorageConfig) {
			u.DefaultStorageClassName = cmp.Or(u.DefaultStorageClassName, l.DefaultStorageClassName)
			u.PVCHeadroomPercent = cmp.Or(u.PVCHeadroomPercent, l.PVCHeadroomPercent)
		}),
		Routing: both(upper.Routing, lower.Routing, func(u, l *aimv1alpha1.AIMRuntimeRoutingConfig) {
			u.Enabled = cmp.Or(u.Enabled, l.Enabled)
			u.GatewayRef = cmp.Or(u.GatewayRef, l.GatewayRef)
			u.PathTemplate = cmp.Or(u.PathTemplate, l.PathTemplate)
			u.RequestTimeout = cmp.Or(u.RequestTimeout, l.RequestTimeout)
			u.Annotations = layers.Maps(u.Annotations, l.Annotations)
		}),
		Model: both(upper.Model, lower.Model, func(u, l *aimv1alpha1.AIMModelConfig) {
			u.AutoDiscovery = cmp.Or(u.AutoDiscovery, l.AutoDiscovery)
		}),
		LabelPropagation: both(upper.LabelPropagation, lower.LabelPropagation, func(u, l *aimv1alpha1.AIMRuntimeConfigLabelPropagationSpec) {
			u.Enabled = cmp.Or(u.Enabled, l.Enabled)
			if len(u.Match) == 0 {
				u.Match = l.Match
			}
		}),
		Env: MergeEnv(upper.Env, lower.Env),
	}
}

// Migrated returns a copy in which the deprecated fields are moved to their replacements. A replacement that is set takes
// precedence.
func Migrated(config *aimv1alpha1.AIMRuntimeConfigCommon) *aimv1alpha1.AIMRuntimeConfigCommon {
	out := config.DeepCopy()
	if out != nil && (out.DefaultStorageClassName != nil || out.PVCHeadroomPercent != nil) {
		if out.Storage == nil {
			out.Storage = &aimv1alpha1.AIMStorageConfig{}
		}
		out.Storage.DefaultStorageClassName = cmp.Or(out.Storage.DefaultStorageClassName, out.DefaultStorageClassName)
		out.Storage.PVCHeadroomPercent = cmp.Or(out.Storage.PVCHeadroomPercent, out.PVCHeadroomPercent)
		out.DefaultStorageClassName, out.PVCHeadroomPercent = nil, nil
	}
	return out
}

// both merges two optional values. It calls merge if both are set.
func both[T any](upper, lower *T, merge func(upper, lower *T)) *T {
	if upper != nil && lower != nil {
		merge(upper, lower)
	}
	return cmp.Or(upper, lower)
}

// MergeEnv merges lists of variables by name. The first list takes precedence. AIM_ENGINE_ARGS is merged as a JSON object.
func MergeEnv(lists ...[]corev1.EnvVar) []corev1.EnvVar {
	return container.Env{JSON: []string{"AIM_ENGINE_ARGS"}}.Merge(lists...)
}

// PropagatedLabels returns the patterns of the labels that children inherit from their owner, as the runtime config defines them.
// The config may be nil. See [naming.MatchingLabels].
func PropagatedLabels(config *aimv1alpha1.AIMRuntimeConfigCommon) []string {
	if config == nil || config.LabelPropagation == nil || !ptr.Deref(config.LabelPropagation.Enabled, false) {
		return nil
	}
	return config.LabelPropagation.Match
}
