package aimservice

import (
	"cmp"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/reconcilekit/reconcilekit/conditions"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/routing"
)

// DecorateStatus sets what the service uses. A reference is set once its object is
// ready, and stays until another one takes its place.
func (*ServiceReconciler) DecorateStatus(status *aimv1alpha1.AIMServiceStatus, _ *conditions.Manager, obs ServiceObservation) {
	if obs.service == nil {
		return
	}
	if obs.model.status == aimv1alpha1.AIMStatusReady {
		status.ResolvedModel = obs.model.reference()
	}
	if obs.templateReady() {
		status.ResolvedTemplate = reference(obs.template.Name, obs.template.Namespace, obs.template.uid)
	}
	if obs.cache != nil && obs.cache.Status.Status == aimv1alpha1.AIMStatusReady {
		if status.Cache == nil {
			status.Cache = &aimv1alpha1.AIMServiceCacheStatus{}
		}
		status.Cache.TemplateCacheRef = reference(obs.cache.Name, obs.cache.Namespace, obs.cache.UID)
	}
	status.ResolvedRuntimeConfig = obs.runtimeConfigReference()
	status.Routing = obs.routingStatus()
	status.Runtime = runtimeStatus(&obs.service.Spec, obs.hpa.Value)
}

// runtimeConfigReference names the runtime config in use; both, when both exist, as
// Merged.
func (obs ServiceObservation) runtimeConfigReference() *aimv1alpha1.AIMResolvedReference {
	upper, lower := obs.runtimeConfig.Value, obs.clusterRuntimeConfig.Value
	switch {
	case upper != nil:
		ref := reference(upper.Name, upper.Namespace, upper.UID)
		if lower != nil {
			ref.Scope = aimv1alpha1.AIMResolutionScopeMerged
		}
		return ref
	case lower != nil:
		return reference(lower.Name, "", lower.UID)
	}
	return nil
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
	if claims := routing.ClaimsOf(route, route); len(claims) > 0 {
		return &aimv1alpha1.AIMServiceRoutingStatus{Path: claims[0].Path}
	}
	return nil
}

// runtimeStatus counts the replicas: by the autoscaler, else by the spec.
func runtimeStatus(spec *aimv1alpha1.AIMServiceSpec, hpa *autoscalingv2.HorizontalPodAutoscaler) *aimv1alpha1.AIMServiceRuntimeStatus {
	if hpa == nil {
		n := int32(1)
		if wanted := cmp.Or(spec.MinReplicas, spec.Replicas); wanted != nil {
			n = *wanted
		}
		return &aimv1alpha1.AIMServiceRuntimeStatus{
			MinReplicas: n, MaxReplicas: n, CurrentReplicas: n, DesiredReplicas: n, Replicas: fmt.Sprint(n),
		}
	}
	s := &aimv1alpha1.AIMServiceRuntimeStatus{
		MinReplicas: 1, MaxReplicas: hpa.Spec.MaxReplicas,
		CurrentReplicas: hpa.Status.CurrentReplicas, DesiredReplicas: hpa.Status.DesiredReplicas,
	}
	if hpa.Spec.MinReplicas != nil {
		s.MinReplicas = cmp.Or(*hpa.Spec.MinReplicas, 1)
	}
	s.Replicas = fmt.Sprint(s.CurrentReplicas)
	if s.MinReplicas != s.MaxReplicas {
		s.Replicas = fmt.Sprintf("%d/%d (%d-%d)", s.CurrentReplicas, s.DesiredReplicas, s.MinReplicas, s.MaxReplicas)
	}
	return s
}
