package aimservice

import (
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
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

// declare reports what the phases read and write.
func declare(
	reconciler reconcile.Reconciler[*aimv1alpha1.AIMService, ServiceFetchResult, ServiceObservation],
) *controller.Builder[*aimv1alpha1.AIMService, ServiceFetchResult, ServiceObservation] {
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
		Options(controller.Options{Apply: apply.Options{Finalizer: CleanupFinalizer}, PauseAnnotation: PauseAnnotation, PauseUnwritten: true})
}

// nodeKind is read for its labels only.
var nodeKind = corev1.SchemeGroupVersion.WithKind("Node")

// AddToScheme registers every kind that the controller reads or writes.
func AddToScheme(scheme *runtime.Scheme) error {
	kinds := runtime.NewSchemeBuilder(corev1.AddToScheme, autoscalingv2.AddToScheme, gatewayv1.Install, kserve.AddToScheme, aimv1alpha1.AddToScheme)
	return kinds.AddToScheme(scheme)
}

// imageOf is the image of a model as services ask for it.
func imageOf(spec aimv1alpha1.AIMModelSpec) []string { return []string{strings.TrimSpace(spec.Image)} }
