package catalog

import (
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
)

// Name of the controller, and the field manager of its children.
const Name = "modelcatalog-controller"

// The objects of others that the catalog looks at.
var (
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
	platformKind  = schema.GroupVersionKind{Group: "components.platform.opendatahub.io", Version: "v1alpha1", Kind: "ModelRegistry"}
	authKind      = schema.GroupVersionKind{Group: "services.platform.opendatahub.io", Version: "v1alpha1", Kind: "Auth"}
)

// New declares the controller of the catalog.
func New(scheme *runtime.Scheme, settings Settings) (*controller.Builder[*controller.Group, Fetched, Observation], error) {
	set, err := newChildren(scheme, settings)
	if err != nil {
		return nil, err
	}
	platform, auth, namespace := controller.Metadata(platformKind), newAuth(), controller.Metadata(namespaceKind)
	return controller.NewSingleton(Name, &Reconciler{settings: settings, children: set}).
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
		Writes(&corev1.Secret{}).
		Reads(&corev1.Secret{}).
		Reads(&openshift.Ingress{}, controller.Optional).
		Reads(platform, controller.Optional).
		Reads(auth, controller.Optional).
		Reads(namespace), nil
}

func newAuth() *unstructured.Unstructured {
	auth := &unstructured.Unstructured{}
	auth.SetGroupVersionKind(authKind)
	return auth
}

// GrantedRules are what the operator grants to the catalog's administrators, and so needs itself.
func GrantedRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
	}
}
