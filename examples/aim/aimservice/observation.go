package aimservice

import (
	"context"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/claims"
	corev1 "k8s.io/api/core/v1"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// ServiceObservation is what the fetched world means for a service.
type ServiceObservation struct {
	ServiceFetchResult

	service   *aimv1alpha1.AIMService
	model     *model // in use, nil when it does not exist
	newModel  *aimv1alpha1.AIMModel
	template  *template // in use, nil when it does not exist
	cache     *aimv1alpha1.AIMTemplateCache
	lostPaths claims.Decisions
}

// ComposeState decides which of the fetched objects the service uses.
func (*ServiceReconciler) ComposeState(
	_ context.Context, rc reconcile.ReconcileContext[*aimv1alpha1.AIMService], fetched ServiceFetchResult,
) ServiceObservation {
	obs := ServiceObservation{
		ServiceFetchResult: fetched, service: rc.Object, template: fetched.templates.resolved(),
		model: fetched.models.resolved(), newModel: fetched.models.newModel(rc.Object),
	}
	if obs.template != nil && fetched.caches.OK() {
		obs.cache = findCache(rc.Object, obs.template, fetched.caches.Value.Items)
	}
	obs.lostPaths = lostPaths(rc.Object, fetched.plannedRoute, fetched.rivals)
	return obs
}

// running reports whether the service has its InferenceService.
func (f ServiceFetchResult) running() bool { return f.isvc.Value != nil }

// GetComponentHealth reports how each part of the service is.
func (obs ServiceObservation) GetComponentHealth(context.Context) []health.Component {
	if obs.service == nil { // while the service is being deleted nothing is observed
		return nil
	}
	return []health.Component{
		obs.runtimeConfig.Health(), obs.modelHealth(), obs.templateHealth(), obs.cacheHealth(),
		obs.inferenceServiceHealth(), obs.podsHealth(), obs.hpaHealth(), obs.routeHealth(),
	}
}

// inferenceServiceHealth: what KServe says; while that is not Ready, its warnings.
func (obs ServiceObservation) inferenceServiceHealth() health.Component {
	c := health.Component{Name: "InferenceService", Dependency: health.Downstream, Child: true, State: health.Progressing, Reason: "CreatingRuntime"}
	switch {
	case obs.namesErr != nil:
		return health.Component{Name: c.Name, Errors: []error{health.NewError(health.InvalidSpec, "InvalidName", obs.namesErr.Error(), obs.namesErr)}}
	case obs.isvc.IsNotFound():
		c.Message = "InferenceService not found"
	case obs.isvc.HasError():
		return obs.isvc.Health(c.Name, nil)
	case obs.isvc.Value.IsReady():
		c.State, c.Reason, c.Message = health.Ready, "RuntimeReady", "InferenceService is ready"
	default:
		c.Message = "InferenceService is not ready"
		for _, event := range obs.events.Value.Items {
			conflict := strings.Contains(event.Message, "the object has been modified") || strings.Contains(event.Message, "Operation cannot be fulfilled")
			if event.Reason == "ServerlessModeRejected" || event.Type == corev1.EventTypeWarning && event.Reason == "InternalError" && !conflict {
				c.State, c.Reason, c.Message = health.Failed, event.Reason, event.Message
			}
		}
	}
	return c
}

// podsHealth: the pods of the InferenceService.
func (obs ServiceObservation) podsHealth() health.Component {
	if !obs.running() {
		return health.Component{}
	}
	c := obs.pods.Downstream("InferenceServicePods", inspect.Of)
	if obs.pods.OK() && len(obs.pods.Value.Items) == 0 && obs.isvc.Value.IsReady() {
		return health.Component{} // KServe knows better: it may have scaled to zero
	}
	return c
}

// hpaHealth: the autoscaler that KEDA makes, when one is wanted. It has metrics to
// wait for until the InferenceService is ready.
func (obs ServiceObservation) hpaHealth() health.Component {
	if !obs.running() || !autoscaled(&obs.service.Spec) {
		return health.Component{}
	}
	if obs.hpa.Failure() != nil {
		return obs.hpa.Health("HPA", nil)
	}
	c := inspect.Of(obs.hpa.Value).As("HPA")
	c.Dependency, c.Child = health.Downstream, true
	const waiting, failed = "WaitingForMetrics", "MetricsFailed"
	if c.Reason == waiting || c.Reason == failed {
		c.State, c.Reason = health.Progressing, waiting
		if obs.isvc.Value.IsReady() {
			c.State, c.Reason = health.Failed, failed
		}
	}
	return c
}

// routeHealth reports how the route does. Nothing that is wrong with it keeps the
// model from being served, except that a Gateway must be named.
func (obs ServiceObservation) routeHealth() health.Component {
	c := health.Component{Name: "HTTPRoute", Dependency: health.Downstream, Child: true, State: health.Degraded}
	switch lost := obs.lostPaths.Err(); {
	case obs.routeErr != nil:
		wrong := health.Categorize(obs.routeErr)
		if wrong.Reason == routing.ReasonGatewayNotConfigured {
			return health.Component{Name: c.Name, Errors: []error{wrong}}
		}
		c.Reason, c.Message = wrong.Reason, wrong.Message
	case obs.plannedRoute == nil:
		return health.Component{}
	case lost != nil:
		c.Reason, c.Message, c.Diagnostics = claims.ReasonConflict, health.Categorize(lost).Message, obs.lostPaths.String()
	case obs.route.HasError() && !obs.route.IsNotFound():
		return obs.route.Health(c.Name, nil)
	default:
		c = routing.Health(obs.route.Value, routing.HealthOptions{Component: c.Name, Parents: obs.plannedRoute.Spec.ParentRefs})
		c.Child = true
	}
	return c
}
