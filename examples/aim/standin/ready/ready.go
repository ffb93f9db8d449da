// Package ready writes the statuses of KServe, of a Gateway and of the controllers of models, templates and caches, for demos and
// tests.
package ready

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// ControllerName is the name of the simulated gateway controller.
const ControllerName = "standin.example.com/gateway"

// Everything marks all existing objects as ready. It ignores kinds that are not installed.
func Everything(ctx context.Context, c client.Client) error {
	var errs []error
	for _, list := range []client.ObjectList{
		&aimv1alpha1.AIMModelList{}, &aimv1alpha1.AIMClusterModelList{},
		&aimv1alpha1.AIMServiceTemplateList{}, &aimv1alpha1.AIMClusterServiceTemplateList{},
		&aimv1alpha1.AIMTemplateCacheList{}, &kserve.InferenceServiceList{}, &gatewayv1.HTTPRouteList{},
	} {
		if err := c.List(ctx, list); err != nil {
			if !meta.IsNoMatchError(err) {
				errs = append(errs, err)
			}
			continue
		}
		errs = append(errs, meta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is not an object", item)
			}
			return Object(ctx, c, object)
		}))
	}
	return errors.Join(errs...)
}

// Object marks one object as ready, with at most one request.
func Object(ctx context.Context, c client.Client, object client.Object) error {
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is not an object", object)
	}
	switch o := object.(type) {
	case *aimv1alpha1.AIMModel:
		o.Status.Status = aimv1alpha1.AIMStatusReady
	case *aimv1alpha1.AIMClusterModel:
		o.Status.Status = aimv1alpha1.AIMStatusReady
	case *aimv1alpha1.AIMServiceTemplate:
		Template(&o.Spec.AIMServiceTemplateSpecCommon, &o.Status)
	case *aimv1alpha1.AIMClusterServiceTemplate:
		Template(&o.Spec.AIMServiceTemplateSpecCommon, &o.Status)
	case *aimv1alpha1.AIMTemplateCache:
		o.Status.Status = aimv1alpha1.AIMStatusReady
	case *kserve.InferenceService:
		o.Status.Conditions = []kserve.Condition{{Type: "Ready", Status: corev1.ConditionTrue}}
	case *gatewayv1.HTTPRoute:
		Route(o, metav1.ConditionTrue, "Accepted")
	default:
		return fmt.Errorf("%T has no stand-in", object)
	}
	if equality.Semantic.DeepEqual(before, object) {
		return nil
	}
	return client.IgnoreNotFound(c.Status().Patch(ctx, object, client.MergeFrom(before)))
}

// Template fills a status like the discovery of the product: the hardware is that of the spec, and the profile is optimized.
func Template(spec *aimv1alpha1.AIMServiceTemplateSpecCommon, status *aimv1alpha1.AIMServiceTemplateStatus) {
	status.Status = aimv1alpha1.AIMStatusReady
	status.ResolvedHardware = spec.Hardware
	status.ModelSources = spec.ModelSources
	if status.Profile != nil {
		return
	}
	profile := &aimv1alpha1.AIMProfile{Metadata: aimv1alpha1.AIMProfileMetadata{Type: aimv1alpha1.AIMProfileTypeOptimized}}
	if spec.Type != nil {
		profile.Metadata.Type = *spec.Type
	}
	if spec.Metric != nil {
		profile.Metadata.Metric = *spec.Metric
	}
	if spec.Precision != nil {
		profile.Metadata.Precision = *spec.Precision
	}
	status.Profile = profile
}

// Route sets the status of a route for each of its parents.
func Route(route *gatewayv1.HTTPRoute, accepted metav1.ConditionStatus, reason string) {
	parents := make([]gatewayv1.RouteParentStatus, 0, len(route.Spec.ParentRefs))
	for i, parent := range route.Spec.ParentRefs {
		status := gatewayv1.RouteParentStatus{ParentRef: parent, ControllerName: ControllerName}
		if i < len(route.Status.Parents) {
			status.Conditions = route.Status.Parents[i].Conditions
		}
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: string(gatewayv1.RouteConditionAccepted), Status: accepted, Reason: reason, ObservedGeneration: route.Generation,
		})
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: string(gatewayv1.RouteConditionResolvedRefs), Status: metav1.ConditionTrue, Reason: "ResolvedRefs",
			ObservedGeneration: route.Generation,
		})
		parents = append(parents, status)
	}
	route.Status.Parents = parents
}
