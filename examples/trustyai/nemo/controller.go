package nemo

import (
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "trustyai-nemo-guardrails"

// Finalizer is set on every server, because a server has a ClusterRoleBinding, and a filter in the namespace of a gateway.
const Finalizer = "trustyai.opendatahub.io/nemo-guardrails-finalizer"

// New declares the controller of NemoGuardrails. The settings of the operator are in its namespace.
func New(operatorNamespace string) *controller.Controller {
	return controller.New(Name, Reconciler{operatorNamespace}).
		Reads(&v1alpha1.NemoGuardrails{}, controller.Resource("nemoguardrails")). // an irregular plural
		Owns(&corev1.ServiceAccount{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}, controller.Inspector(inspectDeployment)).Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&foreign.Route{}, controller.Optional, controller.Inspector(inspectRoute)).
		Writes(&foreign.EnvoyFilter{}, controller.Optional).
		Reads(&foreign.EnvoyFilter{}, controller.Optional).
		Reads(&foreign.MCPGatewayExtension{}, controller.Optional).
		Reads(&gatewayv1.Gateway{}, controller.Optional).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}}).Build()
}

// inspectDeployment reports a Deployment as ready when it is applied, as in the product.
func inspectDeployment(*appsv1.Deployment) health.Component {
	return health.Component{State: health.Ready, Reason: "DeploymentReady", Message: "Deployment is ready"}
}

// inspectRoute reports a Route as ready when a router has admitted it.
func inspectRoute(route *foreign.Route) health.Component {
	if route.Admitted() {
		return health.Component{State: health.Ready, Reason: "RouteReady", Message: "Route is ready"}
	}
	return health.Component{State: health.Progressing, Reason: "RouteNotReady", Message: "Route is not ready"}
}
