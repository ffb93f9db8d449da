package orchestrator

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "trustyai-guardrails-orchestrator"

// Finalizer is set on every orchestrator, because an orchestrator has a ClusterRoleBinding.
const Finalizer = "trustyai.opendatahub.io/gorch-finalizer"

// New declares the controller of GuardrailsOrchestrator. The settings of the operator are in its namespace.
func New(operatorNamespace string) *controller.Controller {
	count := &counter{}
	return controller.New(Name, Reconciler{operatorNamespace}).
		Owns(&corev1.ServiceAccount{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&foreign.Route{}, controller.Optional).
		Owns(&foreign.ServiceMonitor{}, controller.Optional).
		Reads(&foreign.InferenceService{}, controller.Optional).
		Reads(&foreign.ServingRuntime{}, controller.Optional).
		Reads(&corev1.Secret{}).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}, Observer: count}).
		Prepare(count.prepare).Build()
}
