package catalog

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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
)

// Name of the controller, and the field manager of its children.
const Name = "modelcatalog-controller"

const (
	name      = "model-catalog"
	database  = "model-catalog-postgres"
	operator  = "model-registry-operator"
	createdBy = "app.kubernetes.io/created-by"
)

// The objects of others that the catalog looks at.
var (
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
	platformKind  = schema.GroupVersionKind{Group: "components.platform.opendatahub.io", Version: "v1alpha1", Kind: "ModelRegistry"}
)

// New declares the controller of the catalog.
func New(scheme *runtime.Scheme, settings Settings) (*controller.Builder[*controller.Group, Fetched, Observation], error) {
	set, err := newChildren(scheme, settings)
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
		Reads(controller.Metadata(platformKind), controller.Optional).
		Reads(newAuth(), controller.Optional).
		Reads(controller.Metadata(namespaceKind)), err
}

func newAuth() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "services.platform.opendatahub.io/v1alpha1", "kind": "Auth"}}
}

// GrantedRules are what the operator grants to the catalog's administrators, and so needs itself.
func GrantedRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
	}
}

//go:embed templates/*.yaml
var templates embed.FS

// newChildren is every child of the catalog. Those that belong to a Deployment wait for it and go with it by garbage collection,
// so that they are kept when they are not planned. What holds data is shared, not owned: it is deleted when the catalog is
// switched off, and never for another reason.
func newChildren(scheme *runtime.Scheme, settings Settings) (*children.Set[facts], error) {
	parsed, err := manifests.Parse(templates, scheme, "templates/*.yaml")
	adopt := []apply.ChildOption{apply.AdoptUncontrolled}
	workload := []apply.ChildOption{apply.AdoptUncontrolled, apply.Recreate()}
	volume := []apply.ChildOption{apply.AdoptUncontrolled, apply.Seed("spec.resources.requests.storage")} // it never shrinks
	off, database, storage := children.Keep, children.Keep, children.Prune                                // which no shared child ever is
	if settings.Disabled {
		off = children.Delete
	}
	if settings.Disabled && !settings.SkipDatabase {
		database, storage = children.Delete, children.Delete
	}
	on := func(facts) bool { return !settings.Disabled }
	stored := func(facts) bool { return !settings.Disabled && !settings.SkipDatabase }
	served := func(f facts) bool { return on(f) && f.Server != nil }
	routed := func(f facts) bool { return served(f) && f.OpenShift }
	backed := func(f facts) bool { return stored(f) && f.Database != nil }
	administered := func(f facts) bool { return on(f) && len(f.Groups) > 0 }
	list := []children.Child[facts]{
		{Template: "serviceaccount.yaml", When: on, Off: off, Mutate: ofPlatform, Options: adopt},
		{Template: "default-sources.yaml", When: on, Off: children.Keep, Mutate: restoreDefaults, Dynamic: takeDefaults, Options: adopt},
		userChild("model-sources.yaml", modelsName),
		userChild("mcp-sources.yaml", serversName),
		{Template: "deployment.yaml", When: on, Off: off, Mutate: ofPlatform, Options: workload},
		{Template: "service.yaml", When: served, Off: children.Keep, Mutate: ofServer, Options: adopt},
		{Template: "role.yaml", When: served, Off: children.Keep, Mutate: ofServer, Options: adopt},
		{Template: "rolebinding.yaml", When: served, Off: children.Keep, Mutate: ofServer, Options: workload},
		{Template: "admin-role.yaml", When: served, Off: children.Keep, Mutate: ofServer, Options: adopt},
		{Template: "admin-rolebinding.yaml", When: administered, Off: children.Delete, Mutate: ofServer, Options: workload},
		{Template: "postgres-secret.yaml", When: stored, Retained: true, Off: storage, Mutate: ofPlatform, Dynamic: seedCredentials, Options: adopt},
		{Template: "postgres-storage.yaml", When: stored, Retained: true, Off: storage, Mutate: ofPlatform, Options: volume},
		{Template: "postgres-deployment.yaml", When: stored, Off: database, Mutate: ofPlatform, Options: workload},
		{Template: "postgres-service.yaml", When: backed, Off: database, Mutate: ofDatabase, Options: adopt},
		{Template: "postgres-networkpolicy.yaml", When: backed, Off: children.Keep, Mutate: ofDatabase, Options: adopt},
		{Template: "route.yaml", When: routed, Off: off, Mutate: ofServer, Options: adopt},
		{Template: "networkpolicy-https.yaml", When: routed, Off: off, Mutate: ofServer, Options: adopt},
		{Template: "proxy-config.yaml", When: on, Off: off, Mutate: ofPlatform, Options: adopt},
		{Template: "clusterrolebinding.yaml", When: on, Off: off, Options: workload},
	}
	for i := range list {
		list[i].Deletion = []apply.DeletionOption{apply.MatchLabels{createdBy: operator}} // also if an earlier version made it
	}
	return &children.Set[facts]{Manifests: parsed, Children: list}, err
}

func ofPlatform(f facts, o manifests.Object) { o.SetOwnerReferences(f.Platform) }
func ofServer(f facts, o manifests.Object)   { o.SetOwnerReferences(f.Server) }
func ofDatabase(f facts, o manifests.Object) { o.SetOwnerReferences(f.Database) }

// seedCredentials never overwrites a value that exists.
func seedCredentials(f facts) []apply.ChildOption {
	return []apply.ChildOption{secrets.Rules(f.Credentials)}
}
