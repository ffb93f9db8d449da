package registry

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// Name of the controller, and the field manager of its children.
const Name = "modelregistry-controller"

// Finalizer is on every registry: it has objects outside its namespace.
const Finalizer = "modelregistry.opendatahub.io/finalizer"

// New declares the controller of ModelRegistry.
func New(scheme *runtime.Scheme, settings v1beta1.Settings) (*controller.Builder[*v1beta1.ModelRegistry, Fetched, Observation], error) {
	set, err := newChildren(scheme)
	if err != nil {
		return nil, err
	}
	return controller.New(Name, &Reconciler{settings: settings, children: set}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&appsv1.Deployment{}).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&rbacv1.Role{}).
		Owns(&rbacv1.RoleBinding{}).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&openshift.Route{}, controller.Optional).
		Owns(&openshift.Group{}, controller.Optional).
		Writes(&corev1.Secret{}).
		Reads(&corev1.Secret{}).
		Reads(&corev1.Pod{}, controller.Filter(labels.SelectorFromSet(labels.Set{"component": component}))).
		Reads(&corev1.Endpoints{}). //nolint:staticcheck // the product's interface is Endpoints
		Reads(&openshift.Ingress{}, controller.Optional).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}}), nil
}

// GrantedRules are what the operator grants to others, and so needs itself: reading a registry's Service and Endpoints, and what the
// ClusterRole system:auth-delegator allows.
func GrantedRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"endpoints", "services"}, Verbs: []string{"get"}},
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	}
}
