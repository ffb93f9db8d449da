package lmes

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
)

// Name of the controller, and the field manager of its children.
const Name = "trustyai-lm-eval-job"

// Finalizer is on every job: its pod is deleted before it goes.
const Finalizer = guardrails.Domain + "lmes-finalizer"

// New declares the controller of LMEvalJob. Settings is the ConfigMap with the operator's own, in its namespace.
func New(settings types.NamespacedName) *controller.Builder[*v1alpha1.LMEvalJob, Fetched, Observation] {
	return controller.New(Name, Reconciler{settings}).
		Owns(&corev1.Pod{}).
		Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&corev1.ConfigMap{}).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}})
}
