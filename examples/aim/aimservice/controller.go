package aimservice

import (
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// Name of the controller, and the field manager of its children.
const Name = "aim-service-controller"

// The indexes by which objects are found.
const (
	imageIndex        = "spec.image"         // models by their image
	modelNameIndex    = "spec.modelName"     // templates by their model
	eventSubjectIndex = "involvedObject.uid" // events by what they are about
	routeClaimIndex   = "aim.claim"          // routes by gateway and path
)

// New declares the controller of AIMService.
func New() *controller.Builder[*aimv1alpha1.AIMService, ServiceFetchResult, ServiceObservation] {
	return declare(&ServiceReconciler{})
}

// declare says what the phases read and write.
func declare(
	reconciler reconcile.Reconciler[*aimv1alpha1.AIMService, ServiceFetchResult, ServiceObservation],
) *controller.Builder[*aimv1alpha1.AIMService, ServiceFetchResult, ServiceObservation] {
	return controller.New(Name, reconciler).
		Owns(&kserve.InferenceService{}, &gatewayv1.HTTPRoute{}, &aimv1alpha1.AIMServiceTemplate{}, &aimv1alpha1.AIMTemplateCache{}).
		Shares(&aimv1alpha1.AIMModel{}).
		Reads(&aimv1alpha1.AIMModel{}, &aimv1alpha1.AIMClusterModel{}, &aimv1alpha1.AIMClusterServiceTemplate{}).
		Reads(&aimv1alpha1.AIMRuntimeConfig{}, &aimv1alpha1.AIMClusterRuntimeConfig{}).
		Reads(&corev1.Pod{}, &corev1.Event{}, &autoscalingv2.HorizontalPodAutoscaler{}, controller.Metadata(nodeKind)).
		When(controller.Metadata(nodeKind), predicate.LabelChangedPredicate{}). // not at each heartbeat
		Optional(&gatewayv1.HTTPRoute{}, &kserve.InferenceService{}).
		IndexField(&aimv1alpha1.AIMModel{}, imageIndex, controller.Values(func(m *aimv1alpha1.AIMModel) []string { return imageOf(m.Spec) })).
		IndexField(&aimv1alpha1.AIMClusterModel{}, imageIndex, controller.Values(func(m *aimv1alpha1.AIMClusterModel) []string { return imageOf(m.Spec) })).
		IndexField(&aimv1alpha1.AIMServiceTemplate{}, modelNameIndex,
			controller.Values(func(t *aimv1alpha1.AIMServiceTemplate) []string { return []string{t.Spec.ModelName} })).
		IndexField(&aimv1alpha1.AIMClusterServiceTemplate{}, modelNameIndex,
			controller.Values(func(t *aimv1alpha1.AIMClusterServiceTemplate) []string { return []string{t.Spec.ModelName} })).
		IndexField(&corev1.Event{}, eventSubjectIndex, controller.Values(func(e *corev1.Event) []string { return []string{string(e.InvolvedObject.UID)} })).
		IndexField(&gatewayv1.HTTPRoute{}, routeClaimIndex, controller.Values(routeClaims)).
		Options(controller.Options{Apply: apply.Options{Finalizer: CleanupFinalizer}, PauseAnnotation: PauseAnnotation})
}

// nodeKind is read for its labels only.
var nodeKind = corev1.SchemeGroupVersion.WithKind("Node") //nolint:gochecknoglobals // a name

// AddToScheme registers every kind that the controller reads or writes.
func AddToScheme(scheme *runtime.Scheme) error {
	kinds := runtime.NewSchemeBuilder(corev1.AddToScheme, autoscalingv2.AddToScheme, gatewayv1.Install, kserve.AddToScheme, aimv1alpha1.AddToScheme)
	return kinds.AddToScheme(scheme)
}

// imageOf is the image of a model as services ask for it.
func imageOf(spec aimv1alpha1.AIMModelSpec) []string { return []string{strings.TrimSpace(spec.Image)} }
