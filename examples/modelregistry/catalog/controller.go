package catalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "modelcatalog-controller"

const (
	name      = "model-catalog"
	database  = "model-catalog-postgres"
	operator  = "model-registry-operator"
	createdBy = "app.kubernetes.io/created-by"
)

// namespaceKind and platformKind are read as metadata only.
var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

var platformKind = schema.GroupVersionKind{Group: "components.platform.opendatahub.io", Version: "v1alpha1", Kind: "ModelRegistry"}

// New declares the controller of the catalog. Without a namespace for the catalog, the controller is skipped.
func New(scheme *runtime.Scheme, settings Settings) (*controller.Controller, error) {
	set, err := newChildren(scheme, settings)
	return controller.NewSingleton(Name, &Reconciler{settings: settings, children: set}).
		Owns(&corev1.Service{}).Owns(&corev1.ServiceAccount{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&appsv1.Deployment{}).Owns(&networkingv1.NetworkPolicy{}).Owns(&rbacv1.Role{}).Owns(&rbacv1.RoleBinding{}).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&openshift.Route{}, controller.Optional).
		Reads(&openshift.Ingress{}, controller.Optional).
		Reads(controller.Metadata(platformKind), controller.Optional).
		Reads(newAuth(), controller.Optional).
		Reads(controller.Metadata(namespaceKind)).
		Prepare(func(mgr manager.Manager) error {
			if settings.Namespace == "" {
				mgr.GetLogger().Info("there is no model catalog: REGISTRIES_NAMESPACE is not set")
				return controller.ErrSkip
			}
			return nil
		}).Build(), err
}

func newAuth() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "services.platform.opendatahub.io/v1alpha1", "kind": "Auth"}}
}

// GrantedRules are the permissions that the operator grants to the catalog's administrators. It needs them itself.
func GrantedRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"get", "list", "watch", "update", "patch"}},
	}
}

// Reconciler implements the phases of the catalog. Create its controller with [New].
type Reconciler struct {
	settings Settings
	children *children.Set[facts]
}

// Settings configure the catalog. They come from the environment of the operator.
type Settings struct {
	v1beta1.Settings
	// Disabled removes the catalog. SkipDatabase leaves its database to another operator or user.
	Disabled, SkipDatabase bool
	// DataImage and BenchmarkImage are the images with the data of the catalog.
	DataImage, BenchmarkImage string
	// DatabaseUser and DatabaseName apply to a new database.
	DatabaseUser, DatabaseName string
}

// credentials are the keys of the Secret of the database.
func (s Settings) credentials() secrets.Keys {
	return secrets.Keys{
		"database-name": secrets.Literal(s.DatabaseName), "database-user": secrets.Literal(s.DatabaseUser),
		"database-password": secrets.Random(16),
	}
}

type rcontext = reconcile.ReconcileContext[*controller.Group]

// Fetched contains the objects that were read for the catalog.
type Fetched struct {
	namespace, platform reconcile.FetchResult[*metav1.PartialObjectMetadata]
	auth                reconcile.FetchResult[*unstructured.Unstructured]
	sources             reconcile.FetchResult[reconcile.Discovery[*corev1.ConfigMap]]
	defaults            reconcile.FetchResult[*corev1.ConfigMap]
	documents           map[string]reconcile.FetchResult[*corev1.ConfigMap] // by name
	server, database    reconcile.FetchResult[*appsv1.Deployment]
	route               reconcile.FetchResult[*openshift.Route]
	ingress             reconcile.FetchResult[*openshift.Ingress]
	credentials         reconcile.FetchResult[map[string][]byte]
}

// FetchRemoteState reads the inputs of the plan.
func (r *Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, _ rcontext) Fetched {
	key := func(name string) client.ObjectKey {
		return client.ObjectKey{Namespace: r.settings.Namespace, Name: name}
	}
	f := Fetched{
		namespace: reconcile.Fetch(ctx, reader, client.ObjectKey{Name: r.settings.Namespace}, controller.Metadata(namespaceKind)),
		platform:  reconcile.Fetch(ctx, reader, client.ObjectKey{Name: "default-modelregistry"}, controller.Metadata(platformKind)),
		auth:      reconcile.Fetch(ctx, reader, client.ObjectKey{Name: "auth"}, newAuth()),
		defaults:  reconcile.Fetch(ctx, reader, key(defaultsName), &corev1.ConfigMap{}),
		documents: map[string]reconcile.FetchResult[*corev1.ConfigMap]{},
		server:    reconcile.Fetch(ctx, reader, key(name), &appsv1.Deployment{}),
		database:  reconcile.Fetch(ctx, reader, key(database), &appsv1.Deployment{}),
		route:     reconcile.Fetch(ctx, reader, key(name+"-https"), &openshift.Route{}),
		ingress:   reconcile.Fetch(ctx, reader, client.ObjectKey{Name: "cluster"}, &openshift.Ingress{}),
		sources: reconcile.Discover(ctx, reader, &corev1.ConfigMapList{}, usable,
			client.InNamespace(r.settings.Namespace), client.MatchingLabels{sourceLabel: "true"}),
		credentials: secrets.Fetch(ctx, reader, key(database), r.settings.credentials()),
	}
	for _, name := range userDocuments {
		f.documents[name] = reconcile.Fetch(ctx, reader, key(name), &corev1.ConfigMap{})
	}
	return f
}

// Observation is derived from Fetched.
type Observation struct {
	namespace health.Component
	facts     facts
	documents []*corev1.ConfigMap // documents of users to write
	skipped   string              // unreadable sources and documents of users
}

// ComposeState derives the observation.
func (r *Reconciler) ComposeState(_ context.Context, _ rcontext, f Fetched) Observation {
	obs := Observation{namespace: f.namespace.Upstream("Namespace", nil)}
	obs.facts = facts{
		Settings: r.settings, Domain: cmp.Or(r.settings.DefaultDomain, f.ingress.Value.RouteDomain()),
		OpenShift: !controller.IsAbsent(f.route.Error),
		Platform:  references(f.platform, platformKind.GroupVersion().String(), platformKind.Kind),
		Server:    references(f.server, "apps/v1", "Deployment"), Database: references(f.database, "apps/v1", "Deployment"),
		Credentials: f.credentials.Value, defaults: ptr.Deref(f.defaults.Value, corev1.ConfigMap{}).Data,
	}
	auth := ptr.Deref(f.auth.Value, unstructured.Unstructured{}).Object
	obs.facts.Groups, _, _ = unstructured.NestedStringSlice(auth, "spec", "adminGroups") // an object of another type counts as missing
	for _, source := range f.sources.Value.Found {
		obs.facts.Sources = append(obs.facts.Sources, source.Name)
	}
	for _, name := range userDocuments {
		meta := metav1.ObjectMeta{Namespace: r.settings.Namespace, Name: name}
		text, err := withoutRetired(ptr.Deref(f.documents[name].Value, corev1.ConfigMap{}).Data[sourcesKey])
		switch {
		case f.documents[name].IsNotFound():
			obs.facts.missing = append(obs.facts.missing, name)
		case err != nil: // stays unchanged
			skipped := reconcile.Skipped{Key: client.ObjectKey{Namespace: meta.Namespace, Name: name}, Reason: err}
			f.sources.Value.Skipped = append(slices.Clip(f.sources.Value.Skipped), skipped)
		case text != "" && !r.settings.Disabled:
			obs.documents = append(obs.documents, &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{sourcesKey: text}})
		}
	}
	obs.skipped = f.sources.Value.SkippedText()
	return obs
}

// references returns the owner references to an existing owner. They do not mark it as controller, so the object may have another
// controller.
func references[T client.Object](owner reconcile.FetchResult[T], apiVersion, kind string) []metav1.OwnerReference {
	if !owner.OK() {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: owner.Value.GetName(), UID: owner.Value.GetUID()}}
}

// PlanResources returns the children.
func (r *Reconciler) PlanResources(_ context.Context, _ rcontext, obs Observation) (reconcile.PlanResult, error) {
	plan, err := r.children.Plan(obs.facts)
	for _, document := range obs.documents {
		plan.Apply(document, apply.Retained, apply.AdoptUncontrolled, apply.Force("data"))
	}
	retired := metav1.ObjectMeta{Namespace: r.settings.Namespace, Name: retiredName}
	plan.Delete(&corev1.ConfigMap{ObjectMeta: retired}, apply.MatchLabels{createdBy: operator})
	retired.Name = name + "-oauth-cookie-secret"
	plan.Delete(&corev1.Secret{ObjectMeta: retired}, apply.Uncontrolled())
	return plan, err
}

// GetComponentHealth returns the health of the catalog. Only the author of an invalid source can fix it, so it blocks nothing.
func (obs Observation) GetComponentHealth(context.Context) []health.Component {
	sources := health.Component{Name: "Sources", State: health.Ready, Reason: "Listed", Child: true}
	if obs.skipped != "" {
		sources.State, sources.Reason, sources.Message = health.Degraded, "Skipped", obs.skipped
	}
	return []health.Component{obs.namespace, sources}
}
