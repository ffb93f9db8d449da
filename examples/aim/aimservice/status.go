package aimservice

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/routing/claims"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// DecorateStatus sets what the service uses. A reference is set once its object is
// ready, and stays until another one takes its place.
func (*ServiceReconciler) DecorateStatus(status *aimv1alpha1.AIMServiceStatus, _ *conditions.Manager, obs ServiceObservation) {
	if obs.service == nil {
		return
	}
	if obs.model.ready() {
		status.ResolvedModel = aimv1alpha1.ReferenceTo(obs.model)
	}
	if obs.template.ready() {
		status.ResolvedTemplate = aimv1alpha1.ReferenceTo(obs.template.object)
	}
	if obs.cacheReady() {
		status.Cache = cmp.Or(status.Cache, &aimv1alpha1.AIMServiceCacheStatus{})
		status.Cache.TemplateCacheRef = aimv1alpha1.ReferenceTo(obs.cache)
	}
	status.ResolvedRuntimeConfig = obs.runtimeConfig.Reference()
	status.Routing = obs.routingStatus()
	status.Runtime = runtimeStatus(&obs.service.Spec, obs.hpa.Value)
}

// routingStatus is the path of the route, nil when the service is not published.
func (obs ServiceObservation) routingStatus() *aimv1alpha1.AIMServiceRoutingStatus {
	route := obs.plannedRoute
	if obs.routeErr != nil {
		route = obs.route.Value
	}
	if route == nil || len(obs.lostPaths) > 0 {
		return nil
	}
	if claimed := claims.Of(route, route); len(claimed) > 0 {
		return &aimv1alpha1.AIMServiceRoutingStatus{Path: claimed[0].Path}
	}
	return nil
}

// runtimeStatus counts the replicas: by the autoscaler, else by the spec.
func runtimeStatus(spec *aimv1alpha1.AIMServiceSpec, hpa *autoscalingv2.HorizontalPodAutoscaler) *aimv1alpha1.AIMServiceRuntimeStatus {
	n := ptr.Deref(cmp.Or(spec.MinReplicas, spec.Replicas), 1)
	s := &aimv1alpha1.AIMServiceRuntimeStatus{MinReplicas: n, MaxReplicas: n, CurrentReplicas: n, DesiredReplicas: n}
	if hpa != nil {
		s.MinReplicas, s.MaxReplicas = cmp.Or(ptr.Deref(hpa.Spec.MinReplicas, 0), 1), hpa.Spec.MaxReplicas
		s.CurrentReplicas, s.DesiredReplicas = hpa.Status.CurrentReplicas, hpa.Status.DesiredReplicas
	}
	s.Replicas = strconv.Itoa(int(s.CurrentReplicas))
	if s.MinReplicas != s.MaxReplicas {
		s.Replicas = fmt.Sprintf("%d/%d (%d-%d)", s.CurrentReplicas, s.DesiredReplicas, s.MinReplicas, s.MaxReplicas)
	}
	return s
}
