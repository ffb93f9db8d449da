package aimservice

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/claims"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// ServiceObservation is derived from ServiceFetchResult.
type ServiceObservation struct {
	ServiceFetchResult

	service  *aimv1alpha1.AIMService
	model    *aimv1alpha1.AIMModel // in use, nil when it does not exist
	newModel *aimv1alpha1.AIMModel
	template *aimv1alpha1.AIMServiceTemplate // in use, nil when it does not exist
	cache    *aimv1alpha1.AIMTemplateCache

	plannedRoute *gatewayv1.HTTPRoute // nil without routing
	routeErr     error                // why there is no route
	lostPaths    claims.Decisions     // the owner of the path: of two services that request one path of a gateway, the older one
}

// ComposeState selects the objects that the service uses.
func (*ServiceReconciler) ComposeState(_ context.Context, rc rcontext, fetched ServiceFetchResult) ServiceObservation {
	obs := ServiceObservation{
		ServiceFetchResult: fetched, service: rc.Object, template: fetched.templates.resolved(),
		model: fetched.models.resolved(), newModel: fetched.models.newModel(rc.Object),
	}
	obs.plannedRoute, obs.routeErr = httpRoute(rc.Object, fetched.runtimeConfig.Merged, fetched.isvcName)
	obs.lostPaths = claims.Decide(append(claims.Of(rc.Object, obs.plannedRoute), fetched.rivals...)).Of(rc.Object).Lost()
	if obs.template != nil && fetched.caches.OK() {
		obs.cache = findCache(rc.Object, obs.template, fetched.caches.Value.Items)
	}
	return obs
}

// assessment is the state and the reason for a status.
type assessment struct {
	state  health.State
	reason string
}

// assessments maps each status to its assessment. That of the empty status is the default.
type assessments map[aimv1alpha1.AIMStatus]assessment

var (
	modelStates = assessments{
		aimv1alpha1.AIMStatusReady: {health.Ready, "ModelResolved"}, aimv1alpha1.AIMStatusDegraded: {health.Failed, "ModelNotReady"},
		aimv1alpha1.AIMStatusFailed: {health.Failed, "ModelNotReady"}, "": {health.Progressing, "ModelNotReady"},
	}
	templateStates = assessments{
		aimv1alpha1.AIMStatusReady: {health.Ready, reasonResolved}, aimv1alpha1.AIMStatusDegraded: {health.Failed, reasonNotReady},
		aimv1alpha1.AIMStatusFailed: {health.Failed, reasonNotReady}, "": {health.Progressing, reasonNotReady},
		aimv1alpha1.AIMStatusNotAvailable: {health.NotAvailable, reasonNotReady},
	}
	cacheStates = assessments{
		aimv1alpha1.AIMStatusReady: {health.Ready, "CacheReady"}, aimv1alpha1.AIMStatusProgressing: {health.Progressing, "CacheNotReady"},
		aimv1alpha1.AIMStatusFailed: {health.Failed, "CacheFailed"}, "": {health.Progressing, "CacheCreating"},
	}
)

// assess sets the health of an object by its status.
func (all assessments) assess(c health.Component, what string, status aimv1alpha1.AIMStatus) health.Component {
	found, known := all[status]
	if !known {
		found = all[""]
	}
	c.State, c.Reason, c.Message = found.state, found.reason, fmt.Sprintf("%s is %s", what, cmp.Or(status, "without status"))
	return c
}

// running reports whether the InferenceService of the service exists.
func (f ServiceFetchResult) running() bool { return f.isvc.Value != nil }

// GetComponentHealth returns the health of each part of the service.
func (obs ServiceObservation) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{
		obs.runtimeConfig.Health(), obs.modelHealth(), obs.templateHealth(), obs.cacheHealth(),
		obs.inferenceServiceHealth(), obs.podsHealth(), obs.hpaHealth(), obs.routeHealth(),
	}
}

// inferenceServiceHealth returns the health that KServe reports, with its warnings while the InferenceService is not Ready.
func (obs ServiceObservation) inferenceServiceHealth() health.Component {
	c := health.Component{
		Name: "InferenceService", Dependency: health.Downstream, Child: true, State: health.Progressing, Reason: "CreatingRuntime",
	}
	switch {
	case obs.isvcNameErr != nil:
		return health.Component{
			Name:   c.Name,
			Errors: []error{health.NewError(health.InvalidSpec, "InvalidName", obs.isvcNameErr.Error(), obs.isvcNameErr)},
		}
	case obs.isvc.IsNotFound():
		c.Message = "InferenceService not found"
	case obs.isvc.HasError():
		return obs.isvc.Health(c.Name, nil)
	case obs.isvc.Value.IsReady():
		c.State, c.Reason, c.Message = health.Ready, "RuntimeReady", "InferenceService is ready"
	default:
		c.Message = "InferenceService is not ready"
		for _, event := range obs.events.Value.Items {
			conflict := strings.Contains(event.Message, "the object has been modified") ||
				strings.Contains(event.Message, "Operation cannot be fulfilled")
			if event.Reason == "ServerlessModeRejected" || event.Type == corev1.EventTypeWarning && event.Reason == "InternalError" && !conflict {
				c.State, c.Reason, c.Message = health.Failed, event.Reason, event.Message
			}
		}
	}
	return c
}

// podsHealth returns the health of the InferenceService's pods.
func (obs ServiceObservation) podsHealth() health.Component {
	if !obs.running() || obs.pods.OK() && len(obs.pods.Value.Items) == 0 && obs.isvc.Value.IsReady() {
		return health.Component{} // KServe is authoritative: it may have scaled to zero
	}
	return obs.pods.Downstream("InferenceServicePods", inspect.Of)
}

// hpaHealth returns the health of the autoscaler that KEDA creates, if the service requests one. It waits for metrics until the
// InferenceService is ready.
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

// routeHealth returns the health of the route. No failure of the route blocks the model, except a missing gateway.
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

// DecorateStatus sets the references to the objects in use. A reference is set when its object is ready, and stays until another
// object replaces it.
func (*ServiceReconciler) DecorateStatus(
	status *aimv1alpha1.AIMServiceStatus, _ *conditions.Manager, _ reconcile.StatusContext[*aimv1alpha1.AIMService],
	obs ServiceObservation,
) {
	if obs.model.IsReady() {
		status.ResolvedModel = aimv1alpha1.ReferenceTo(obs.model)
	}
	if obs.template.IsReady() {
		status.ResolvedTemplate = aimv1alpha1.ReferenceTo(obs.template)
	}
	if obs.cache.IsReady() {
		status.Cache = cmp.Or(status.Cache, &aimv1alpha1.AIMServiceCacheStatus{})
		status.Cache.TemplateCacheRef = aimv1alpha1.ReferenceTo(obs.cache)
	}
	status.ResolvedRuntimeConfig = obs.runtimeConfig.Reference()
	status.Routing = obs.routingStatus()
	status.Runtime = runtimeStatus(&obs.service.Spec, obs.hpa.Value)
}

// routingStatus returns the path of the route, or nil if the service is not published.
func (obs ServiceObservation) routingStatus() *aimv1alpha1.AIMServiceRoutingStatus {
	route := obs.plannedRoute
	if obs.routeErr != nil {
		route = obs.route.Value
	}
	if claimed := claims.Of(obs.service, route); len(claimed) > 0 && len(obs.lostPaths) == 0 {
		return &aimv1alpha1.AIMServiceRoutingStatus{Path: claimed[0].Path}
	}
	return nil
}

// runtimeStatus returns the number of replicas, from the autoscaler or else from the spec.
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
