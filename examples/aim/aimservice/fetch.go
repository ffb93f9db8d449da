package aimservice

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

// ServiceReconciler is the domain logic of AIMService. The zero value works.
type ServiceReconciler struct{}

// ServiceFetchResult is what was read for a service.
type ServiceFetchResult struct {
	names    childNames
	namesErr error

	runtimeConfig runtimeconfig.Result

	isvc   reconcile.FetchResult[*kserve.InferenceService]
	pods   reconcile.FetchResult[*corev1.PodList]
	events reconcile.FetchResult[*corev1.EventList]
	hpa    reconcile.FetchResult[*autoscalingv2.HorizontalPodAutoscaler]

	plannedRoute *gatewayv1.HTTPRoute
	routeErr     error
	route        reconcile.FetchResult[*gatewayv1.HTTPRoute]
	rivals       []rival

	models    ModelFetchResult
	templates TemplateFetchResult
	caches    reconcile.FetchResult[*aimv1alpha1.AIMTemplateCacheList]
	// neighbours are the other services of the namespace; read only when the service goes.
	neighbours reconcile.FetchResult[*aimv1alpha1.AIMServiceList]
}

// FetchRemoteState reads what the plan depends on.
func (*ServiceReconciler) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*aimv1alpha1.AIMService],
) ServiceFetchResult {
	service := rc.Object
	var f ServiceFetchResult
	f.names, f.namesErr = namesOf(service)
	f.caches = reconcile.FetchList(ctx, r, &aimv1alpha1.AIMTemplateCacheList{}, client.InNamespace(service.Namespace))
	if !service.DeletionTimestamp.IsZero() {
		f.neighbours = reconcile.FetchList(ctx, r, &aimv1alpha1.AIMServiceList{}, client.InNamespace(service.Namespace))
		return f
	}
	f.runtimeConfig = runtimeconfig.Fetch(ctx, r, service.Namespace, service.Spec.RuntimeConfigName)
	f.fetchInferenceService(ctx, r, service)
	f.fetchRoute(ctx, r, service)
	f.models = fetchModel(ctx, r, service)
	if model := f.models.resolved(); model != nil {
		f.templates = fetchTemplate(ctx, r, service, model.GetName())
	}
	return f
}

// fetchInferenceService reads the InferenceService and what tells how it does.
func (f *ServiceFetchResult) fetchInferenceService(ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService) {
	if f.names.inferenceService == "" {
		return
	}
	key := client.ObjectKey{Namespace: service.Namespace, Name: f.names.inferenceService}
	f.isvc = reconcile.Fetch(ctx, r, key, &kserve.InferenceService{})
	if !f.isvc.OK() {
		return
	}
	f.pods = reconcile.FetchList(ctx, r, &corev1.PodList{}, client.InNamespace(service.Namespace),
		client.MatchingLabels{"serving.kserve.io/inferenceservice": key.Name})
	if !f.isvc.Value.IsReady() {
		f.events = reconcile.FetchList(ctx, r, &corev1.EventList{}, client.InNamespace(service.Namespace),
			client.MatchingFields{eventSubjectIndex: string(f.isvc.Value.UID)})
	}
	if autoscaled(&service.Spec) {
		key.Name = "keda-hpa-" + key.Name + predictorSuffix
		f.hpa = reconcile.Fetch(ctx, r, key, &autoscalingv2.HorizontalPodAutoscaler{})
	}
}

// fetchRoute reads the route, and the routes of others for the same path.
func (f *ServiceFetchResult) fetchRoute(ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService) {
	f.plannedRoute, f.routeErr = httpRoute(service, f.runtimeConfig.Merged, f.names)
	if f.plannedRoute == nil && f.routeErr == nil {
		return
	}
	f.route = reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: service.Namespace, Name: f.names.route}, &gatewayv1.HTTPRoute{})
	for _, claim := range routeClaims(f.plannedRoute) {
		routes := reconcile.FetchList(ctx, r, &gatewayv1.HTTPRouteList{}, client.MatchingFields{routeClaimIndex: claim})
		for i := range routes.Value.Items {
			route := &routes.Value.Items[i]
			owner := metav1.GetControllerOf(route)
			if owner == nil || owner.Kind != "AIMService" || owner.UID == service.UID {
				continue
			}
			other := reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: route.Namespace, Name: owner.Name}, &aimv1alpha1.AIMService{})
			if other.OK() && other.Value.UID == owner.UID {
				f.rivals = append(f.rivals, rival{owner: other.Value, route: route})
			}
		}
	}
}
