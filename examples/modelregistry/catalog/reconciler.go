package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
)

// Reconciler is the domain logic of the catalog. Create its controller with [New].
type Reconciler struct {
	settings Settings
	children *children.Set[facts]
}

// Settings are those of the operator, from its environment, that decide what the catalog is.
type Settings struct {
	// Namespace of the catalog.
	Namespace string
	// Disabled removes the catalog; SkipDatabase leaves its database to somebody else.
	Disabled, SkipDatabase bool
	// DefaultDomain of the route; empty is that of the cluster.
	DefaultDomain string
	// The images.
	Image, ProxyImage, PostgresImage, DataImage, BenchmarkImage string
	// DatabaseUser and DatabaseName are those of a new database.
	DatabaseUser, DatabaseName string
}

// facts are what the templates are rendered with.
type facts struct {
	Settings
	// Domain is that of the route, empty when none is known.
	Domain string
	// Platform, Server and Database are references to what owns children, nil when it does not exist.
	Platform, Server, Database []metav1.OwnerReference
	// Groups administer the catalog; Sources are the ConfigMaps that offer themselves.
	Groups, Sources []string
	Credentials     map[string][]byte
	OpenShift       bool

	// defaults is the managed document of sources as it is, nil when it does not exist.
	defaults map[string]string
	// documents are those of users that have to be written, by the name of their ConfigMap: a text for one that exists, else empty for that
	// of the template.
	documents map[string]string
}

type pass = reconcile.ReconcileContext[*controller.Group]

// Fetched is what was read for the catalog.
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

// FetchRemoteState reads what the plan depends on.
func (r *Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, _ pass) Fetched {
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
		sources: reconcile.Discover(ctx, reader, &corev1.ConfigMapList{}, usable,
			client.InNamespace(r.settings.Namespace), client.MatchingLabels{sourceLabel: "true"}),
		credentials: secrets.Fetch(ctx, reader, key(database), secrets.Keys{
			"database-name": secrets.Literal(r.settings.DatabaseName), "database-user": secrets.Literal(r.settings.DatabaseUser),
			"database-password": secrets.Random(16),
		}),
	}
	for _, name := range userDocuments {
		f.documents[name] = reconcile.Fetch(ctx, reader, key(name), &corev1.ConfigMap{})
	}
	if r.settings.DefaultDomain == "" {
		f.ingress = reconcile.Fetch(ctx, reader, client.ObjectKey{Name: "cluster"}, &openshift.Ingress{})
	}
	return f
}

// Observation is what follows from what was read.
type Observation struct {
	namespace health.Component
	facts     facts
	secret    error  // of the credentials
	skipped   string // sources that cannot be used
	unread    error  // of documents of users
}

// ComposeState derives the facts.
func (r *Reconciler) ComposeState(_ context.Context, _ pass, f Fetched) Observation {
	obs := Observation{namespace: f.namespace.Upstream("Namespace", nil), secret: f.credentials.Error, skipped: f.sources.Value.SkippedText()}
	obs.facts = facts{
		Settings: r.settings, Domain: cmp.Or(f.ingress.Value.RouteDomain(), r.settings.DefaultDomain), OpenShift: !controller.IsAbsent(f.route.Error),
		Platform: references(f.platform, platformKind.GroupVersion().String(), platformKind.Kind),
		Server:   references(f.server, "apps/v1", "Deployment"), Database: references(f.database, "apps/v1", "Deployment"),
		Credentials: f.credentials.Value, documents: map[string]string{},
	}
	if f.auth.OK() {
		obs.facts.Groups, _, _ = unstructured.NestedStringSlice(f.auth.Value.Object, "spec", "adminGroups") // of another type is none
	}
	for _, source := range f.sources.Value.Found {
		obs.facts.Sources = append(obs.facts.Sources, source.Name)
	}
	if f.defaults.OK() {
		obs.facts.defaults = f.defaults.Value.Data
	}
	for _, name := range userDocuments {
		text, write, err := userDocument(f.documents[name])
		if write {
			obs.facts.documents[name] = text
		} else if err != nil {
			obs.unread = errors.Join(obs.unread, fmt.Errorf("ConfigMap %s: %w", name, err))
		}
	}
	return obs
}

// references are those to an owner that exists. They name no controller, so that it does not matter who else has one.
func references[T client.Object](owner reconcile.FetchResult[T], apiVersion, kind string) []metav1.OwnerReference {
	if !owner.OK() {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: owner.Value.GetName(), UID: owner.Value.GetUID()}}
}

// PlanResources returns the children.
func (r *Reconciler) PlanResources(_ context.Context, _ pass, obs Observation) (reconcile.PlanResult, error) {
	plan, err := r.children.Plan(obs.facts)
	retired := metav1.ObjectMeta{Namespace: r.settings.Namespace, Name: retiredName}
	plan.Delete(&corev1.ConfigMap{ObjectMeta: retired}, apply.MatchLabels{createdBy: operator})
	retired.Name = name + "-oauth-cookie-secret"
	plan.Delete(&corev1.Secret{ObjectMeta: retired}, apply.Uncontrolled())
	return plan, err
}

// GetComponentHealth reports how the catalog is. Sources that are wrong are for their authors to mend; they stop nothing.
func (obs Observation) GetComponentHealth(context.Context) []health.Component {
	plan := health.Component{Name: "Plan", State: health.Ready, Reason: "Planned"}
	if obs.secret != nil {
		plan = health.Component{Name: "Plan", Errors: []error{obs.secret}}
	}
	sources := health.Component{Name: "Sources", State: health.Ready, Reason: "Listed", Child: true}
	if obs.skipped != "" {
		sources.State, sources.Reason, sources.Message = health.Degraded, "Skipped", obs.skipped
	}
	documents := health.Component{Name: "Documents", State: health.Ready, Reason: "Read", Child: true}
	if obs.unread != nil {
		documents.State, documents.Reason, documents.Message = health.Degraded, "NotRead", obs.unread.Error()
	}
	return []health.Component{obs.namespace, plan, sources, documents}
}
