package aimservice

import (
	"context"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/routing/claims"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "aim-service-controller"

// The indexes of the cache.
const (
	imageIndex        = "spec.image"         // models by their image
	modelNameIndex    = "spec.modelName"     // templates by their model
	eventSubjectIndex = "involvedObject.uid" // events by their object
	routeClaimIndex   = "aim.claim"          // routes by gateway and path
)

// New declares the controller of AIMService.
func New() *controller.Controller {
	return declare(&ServiceReconciler{}).Build()
}

// declare declares the objects that the phases read and write.
func declare(
	reconciler reconcile.Reconciler[*aimv1alpha1.AIMService, ServiceFetchResult, ServiceObservation],
) *controller.Builder {
	byImage := controller.Values(func(m *aimv1alpha1.AIMModel) []string { return imageOf(m.Spec) })
	byClusterImage := controller.Values(func(m *aimv1alpha1.AIMClusterModel) []string { return imageOf(m.Spec) })
	byModel := controller.Values(func(t *aimv1alpha1.AIMServiceTemplate) []string { return []string{t.Spec.ModelName} })
	byClusterModel := controller.Values(func(t *aimv1alpha1.AIMClusterServiceTemplate) []string { return []string{t.Spec.ModelName} })
	bySubject := controller.Values(func(e *corev1.Event) []string { return []string{string(e.InvolvedObject.UID)} })
	return controller.New(Name, reconciler).
		Owns(&kserve.InferenceService{}, controller.Optional).
		Owns(&gatewayv1.HTTPRoute{}, controller.Optional, controller.Index(routeClaimIndex, controller.Values(routeClaims))).
		Owns(&aimv1alpha1.AIMServiceTemplate{}, controller.Index(modelNameIndex, byModel)).
		Owns(&aimv1alpha1.AIMTemplateCache{}).
		Writes(&aimv1alpha1.AIMModel{}, controller.NeverDeletes, controller.Index(imageIndex, byImage)).
		Reads(&aimv1alpha1.AIMClusterModel{}, controller.Index(imageIndex, byClusterImage)).
		Reads(&aimv1alpha1.AIMClusterServiceTemplate{}, controller.Index(modelNameIndex, byClusterModel)).
		Reads(&aimv1alpha1.AIMRuntimeConfig{}).
		Reads(&aimv1alpha1.AIMClusterRuntimeConfig{}).
		Reads(&corev1.Pod{}).
		Reads(&corev1.Event{}, controller.Index(eventSubjectIndex, bySubject)).
		Reads(&autoscalingv2.HorizontalPodAutoscaler{}).
		Reads(controller.Metadata(nodeKind), controller.Derives(clusterGPUs)).
		Options(controller.Options{Apply: apply.Options{Finalizer: CleanupFinalizer}, PauseAnnotation: PauseAnnotation, Conditions: func(of string) bool { return of != "Paused" }})
}

// nodeKind is read for its labels only.
var nodeKind = corev1.SchemeGroupVersion.WithKind("Node")

// AddToScheme registers every kind that the controller reads or writes.
func AddToScheme(scheme *runtime.Scheme) error {
	kinds := runtime.NewSchemeBuilder(
		corev1.AddToScheme, autoscalingv2.AddToScheme, gatewayv1.Install, kserve.AddToScheme, aimv1alpha1.AddToScheme,
	)
	return kinds.AddToScheme(scheme)
}

// imageOf returns the image of a model for the index.
func imageOf(spec aimv1alpha1.AIMModelSpec) []string { return []string{strings.TrimSpace(spec.Image)} }

// ServiceReconciler implements the phases of AIMService. The zero value works.
type ServiceReconciler struct{}

type rcontext = reconcile.ReconcileContext[*aimv1alpha1.AIMService]

// ServiceFetchResult contains the objects that were read for a service.
type ServiceFetchResult struct {
	isvcName    string
	isvcNameErr error

	runtimeConfig runtimeconfig.Result

	isvc   reconcile.FetchResult[*kserve.InferenceService]
	pods   reconcile.FetchResult[*corev1.PodList]
	events reconcile.FetchResult[*corev1.EventList]
	hpa    reconcile.FetchResult[*autoscalingv2.HorizontalPodAutoscaler]

	route  reconcile.FetchResult[*gatewayv1.HTTPRoute]
	rivals []claims.Claim // the claims of other services' routes to its path

	models    ModelFetchResult
	templates TemplateFetchResult
	caches    reconcile.FetchResult[*aimv1alpha1.AIMTemplateCacheList]
	// neighbours are the other services of the namespace. They are read only when the service is deleted.
	neighbours reconcile.FetchResult[*aimv1alpha1.AIMServiceList]
}

// FetchRemoteState reads the inputs of the plan.
func (*ServiceReconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc rcontext) (f ServiceFetchResult) {
	service := rc.Object
	f.isvcName, f.isvcNameErr = GenerateInferenceServiceName(service.Name, service.Namespace)
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

// fetchInferenceService reads the InferenceService and the objects that report its health.
func (f *ServiceFetchResult) fetchInferenceService(ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService) {
	if f.isvcNameErr != nil {
		return
	}
	key := client.ObjectKey{Namespace: service.Namespace, Name: f.isvcName}
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

// fetchRoute reads the route of a service with routing, and other routes with the requested path.
func (f *ServiceFetchResult) fetchRoute(ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService) {
	settings := routingOf(service, f.runtimeConfig.Merged)
	if !settings.Enabled.Value {
		return
	}
	f.route = reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: service.Namespace, Name: routeName(service)}, &gatewayv1.HTTPRoute{})
	path, ok := askedFor(service, settings)
	if !ok {
		return
	}
	routes := reconcile.FetchList(ctx, r, &gatewayv1.HTTPRouteList{}, client.MatchingFields{routeClaimIndex: path})
	for i := range routes.Value.Items {
		route := &routes.Value.Items[i]
		owner := metav1.GetControllerOf(route)
		if owner == nil || owner.Kind != "AIMService" || owner.UID == service.UID {
			continue
		}
		other := reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: route.Namespace, Name: owner.Name}, &aimv1alpha1.AIMService{})
		if other.OK() && other.Value.UID == owner.UID {
			f.rivals = append(f.rivals, claims.Of(other.Value, route)...)
		}
	}
}

// PlanResources lists the children of the service.
func (*ServiceReconciler) PlanResources(_ context.Context, _ rcontext, obs ServiceObservation) (plan reconcile.PlanResult, _ error) {
	if obs.newModel != nil {
		plan.Apply(obs.newModel, apply.Retained)
	}
	switch { // if the route cannot be planned, the existing one stays; a service that has lost its path has none
	case obs.plannedRoute != nil && len(obs.lostPaths) == 0:
		plan.Apply(obs.plannedRoute)
	case obs.routeErr != nil && obs.route.Value != nil:
		plan.Keep(obs.route.Value)
	}
	if base := obs.templates.base(); base.IsReady() && obs.templates.derivedName != "" {
		plan.Apply(obs.derivedTemplate(base))
	}
	obs.planCache(&plan)
	switch cached := !obs.needsCache() || obs.cache.IsReady(); {
	case obs.template.IsReady() && (obs.running() || cached && obs.model.IsReady()):
		plan.Apply(obs.inferenceService())
	case obs.running():
		plan.Keep(obs.isvc.Value)
	}
	return plan, nil
}

// planCache plans the cache of the template. A shared cache is created if there is none. It then has no owner, and its env and
// labels are never changed.
func (obs ServiceObservation) planCache(plan *reconcile.PlanResult) {
	dedicated, wanted := obs.service.Spec.GetCachingMode() == aimv1alpha1.CachingModeDedicated, obs.needsCache() && obs.template.IsReady()
	switch {
	case dedicated && wanted:
		plan.Apply(obs.newCache())
	case dedicated && obs.cache != nil:
		plan.Keep(obs.cache)
	case !dedicated && wanted && obs.cache == nil:
		plan.Apply(obs.newCache(), apply.Retained, apply.CreateOnly("spec", "metadata.labels"))
	}
}

// Finalize deletes the caches that were created for the service, are not ready, and have no other user. The children are deleted
// with their owner.
func (*ServiceReconciler) Finalize(_ context.Context, rc rcontext, fetched ServiceFetchResult) (plan reconcile.PlanResult, _ error) {
	for _, cache := range fetched.abandoned(rc.Object) {
		plan.Delete(&cache, apply.MatchResourceVersion())
	}
	return plan, nil
}
