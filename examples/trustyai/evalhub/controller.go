package evalhub

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// Name of the controller, and the field manager of its children.
const Name = "trustyai-evalhub"

// Finalizer is on every hub: it has rights in the cluster and in the namespace of the operator.
const Finalizer = "trustyai.opendatahub.io/evalhub-finalizer"

// New declares the controller of EvalHub. The operator's own settings and its catalogue are in its namespace.
func New(operatorNamespace string) *controller.Builder[*v1.EvalHub, Fetched, Observation] {
	return controller.New(Name, Reconciler{operatorNamespace}).
		Reads(&v1.EvalHub{}, controller.Index(pairIndex, indexPair)).
		Owns(&corev1.ServiceAccount{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Owns(&rbacv1.Role{}).
		Owns(&rbacv1.RoleBinding{}).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&foreign.Route{}, controller.Optional).
		Owns(&foreign.ServiceMonitor{}, controller.Optional).
		Reads(&corev1.Namespace{}).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}})
}
