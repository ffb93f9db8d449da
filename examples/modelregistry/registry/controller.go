package registry

import (
	"embed"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// Name of the controller, and the field manager of its children.
const Name = "modelregistry-controller"

// Finalizer is on every registry: it has objects outside its namespace.
const Finalizer = "modelregistry.opendatahub.io/finalizer"

// component is the label of the pods.
const component = "model-registry"

// New declares the controller of ModelRegistry.
func New(scheme *runtime.Scheme, settings v1beta1.Settings) (*controller.Builder[*v1beta1.ModelRegistry, Fetched, Observation], error) {
	set, err := newChildren(scheme)
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
		Reads(&corev1.Pod{}, controller.Filter(client.MatchingLabels{"component": component})).
		Reads(&corev1.Endpoints{}). //nolint:staticcheck // the product's interface is Endpoints
		Reads(&openshift.Ingress{}, controller.Optional).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}}), err
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

//go:embed templates/*.yaml
var templates embed.FS

// newChildren is every child of a registry. One that the operator made before the SDK did carries no mark of it, so objects
// without a controller are adopted.
func newChildren(scheme *runtime.Scheme) (*children.Set[facts], error) {
	parsed, err := manifests.Parse(templates, scheme, "templates/*.yaml")
	adopt := []apply.ChildOption{apply.AdoptUncontrolled}
	workload := []apply.ChildOption{apply.AdoptUncontrolled, apply.Recreate()}
	return &children.Set[facts]{Manifests: parsed, Children: []children.Child[facts]{
		{Template: "serviceaccount.yaml", Options: adopt},
		{Template: "service.yaml", Options: adopt},
		{Template: "deployment.yaml", Options: workload},
		{Template: "role.yaml", Options: adopt},
		{Template: "rolebinding.yaml", When: onOpenShift, Options: workload},
		{Template: "group.yaml", When: func(f facts) bool { return f.OpenShift && f.Users }, Options: adopt},
		{Template: "route-http.yaml", When: func(f facts) bool { return f.Spec.Rest.ServiceRoute == v1beta1.RouteEnabled }, Options: adopt},
		{Template: "proxy-config.yaml", When: proxied, Options: adopt},
		{Template: "clusterrolebinding.yaml", When: proxied, Options: workload},
		{Template: "route-https.yaml", When: facts.published, Options: adopt},
		{Template: "networkpolicy-https.yaml", When: func(f facts) bool { return f.OpenShift && f.published() }, Options: adopt},
		{Template: "postgres-secret.yaml", When: func(f facts) bool { return f.Generated && f.OwnCredentials }, Retained: true, Dynamic: seedCredentials},
		{Template: "postgres-storage.yaml", When: generated, Off: children.Keep, Options: adopt},
		{Template: "postgres-deployment.yaml", When: generated, Options: workload},
		{Template: "postgres-service.yaml", When: generated, Options: adopt},
		{Template: "postgres-networkpolicy.yaml", When: generated, Options: adopt},
	}}, err
}

func onOpenShift(f facts) bool { return f.OpenShift }
func proxied(f facts) bool     { return f.Proxy != nil }
func generated(f facts) bool   { return f.Generated }

// seedCredentials never overwrites a value that exists.
func seedCredentials(f facts) []apply.ChildOption {
	return []apply.ChildOption{secrets.Rules(f.Credentials)}
}
