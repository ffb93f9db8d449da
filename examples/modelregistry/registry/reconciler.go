package registry

import (
	"cmp"
	"context"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/naming"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// Reconciler is the domain logic of ModelRegistry. Create its controller with [New].
type Reconciler struct {
	settings v1beta1.Settings
	children *children.Set[facts]
}

type pass = reconcile.ReconcileContext[*v1beta1.ModelRegistry]

// Fetched is what was read for a registry.
type Fetched struct {
	deployment  reconcile.FetchResult[*appsv1.Deployment]
	endpoints   reconcile.FetchResult[*corev1.Endpoints] //nolint:staticcheck // the product's interface is this kind
	pods        reconcile.FetchResult[*corev1.PodList]
	route       reconcile.FetchResult[*openshift.Route]
	group       reconcile.FetchResult[*openshift.Group]
	ingress     reconcile.FetchResult[*openshift.Ingress]
	secret      reconcile.FetchResult[*corev1.Secret]
	credentials reconcile.FetchResult[map[string][]byte]
}

// FetchRemoteState reads what the plan and the status depend on.
func (r *Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc pass) Fetched {
	var f Fetched
	m := rc.Object
	if !m.DeletionTimestamp.IsZero() {
		return f
	}
	key := client.ObjectKeyFromObject(m)
	named := func(suffix string) client.ObjectKey {
		return client.ObjectKey{Namespace: key.Namespace, Name: key.Name + suffix}
	}
	f.deployment = reconcile.Fetch(ctx, reader, key, &appsv1.Deployment{})
	f.endpoints = reconcile.Fetch(ctx, reader, key, &corev1.Endpoints{}) //nolint:staticcheck // as above
	f.pods = reconcile.FetchList(ctx, reader, &corev1.PodList{}, client.InNamespace(key.Namespace),
		client.MatchingLabels{"app": m.Name, "component": component, "app.kubernetes.io/name": m.Name})
	f.route = reconcile.Fetch(ctx, reader, named("-https"), &openshift.Route{})
	f.group = reconcile.Fetch(ctx, reader, client.ObjectKey{Name: m.Name + "-users"}, &openshift.Group{})
	if proxy := m.Spec.KubeRBACProxy; proxy != nil && proxy.Domain == "" && r.settings.DefaultDomain == "" {
		f.ingress = reconcile.Fetch(ctx, reader, client.ObjectKey{Name: "cluster"}, &openshift.Ingress{})
	}
	if m.Spec.Postgres.Generated() {
		key.Name = v1beta1.CredentialsName(m.Name)
		f.secret = reconcile.Fetch(ctx, reader, key, &corev1.Secret{})
		f.credentials = secrets.Fetch(ctx, reader, key, secrets.Keys{
			"username": secrets.Literal(v1beta1.DatabaseUser), v1beta1.DatabasePasswordKey: secrets.Random(16),
		})
	}
	return f
}

// Observation is what follows from what was read.
type Observation struct {
	registry *v1beta1.ModelRegistry
	facts    facts
	invalid  error         // of the spec
	unread   error         // of the credentials
	look     time.Duration // when to look again, zero is when something changes

	server, proxy health.Component
	deployed      bool // there is a Deployment
	updating      bool // the status speaks of an earlier spec
}

// ComposeState derives the facts and the availability.
func (r *Reconciler) ComposeState(_ context.Context, rc pass, f Fetched) Observation {
	obs := Observation{
		registry: rc.Object, deployed: f.deployment.OK(), updating: updates(rc.Object), facts: r.facts(rc.Object, f), unread: f.credentials.Error,
	}
	obs.invalid = obs.facts.Spec.Validate().ToAggregate()
	if !r.settings.Webhooks {
		obs.invalid = rc.Object.Validate(r.settings.Namespace).ToAggregate()
	}
	if obs.invalid == nil {
		obs.availability(f, rc.Now)
	}
	return obs
}

func (r *Reconciler) facts(m *v1beta1.ModelRegistry, f Fetched) facts {
	spec, proxy, generated := r.settings.Effective(m, f.ingress.Value.RouteDomain()), m.Spec.KubeRBACProxy, m.Spec.Postgres.Generated()
	out := facts{
		Name: m.Name, Namespace: m.Namespace, Owner: metav1.NewControllerRef(m, v1beta1.GroupVersion.WithKind("ModelRegistry")),
		Spec: spec, Proxy: spec.KubeRBACProxy, ServingCertificate: proxy != nil && proxy.TLSCertificateSecret == nil,
		Generated: generated, Credentials: f.credentials.Value,
		OwnCredentials: f.secret.IsNotFound() || f.secret.Value != nil && metav1.IsControlledBy(f.secret.Value, m),
		Annotations:    naming.MatchingLabels(m.Annotations, "openshift.io/display-name", "openshift.io/description"),
		OpenShift:      !controller.IsAbsent(f.route.Error), Users: !controller.IsAbsent(f.group.Error),
	}
	if generated {
		out.DatabaseImage = cmp.Or(m.Spec.Postgres.Image, r.settings.PostgresImage)
	}
	if out.published() && out.Proxy.Domain != "" {
		out.Host = m.Name + "-rest." + out.Proxy.Domain
	}
	return out
}

// PlanResources returns the children.
func (r *Reconciler) PlanResources(_ context.Context, _ pass, obs Observation) (reconcile.PlanResult, error) {
	if obs.invalid != nil {
		return reconcile.PlanResult{}, nil //nolint:nilerr // its component tells of it
	}
	plan, err := r.children.Plan(obs.facts)
	plan.RequeueAfter = obs.look
	obs.deleteLegacy(&plan)
	return plan, err
}

// deleteLegacy removes what an early version made for each registry. Those of a registry called model would be the objects
// of the model catalog, which is another controller's.
func (obs *Observation) deleteLegacy(plan *reconcile.PlanResult) {
	legacy := metav1.ObjectMeta{Namespace: obs.facts.Namespace, Name: obs.facts.Name + "-catalog"}
	if legacy.Name == "model-catalog" {
		return
	}
	plan.Delete(&appsv1.Deployment{ObjectMeta: legacy}, apply.Uncontrolled())
	plan.Delete(&corev1.Service{ObjectMeta: legacy}, apply.Uncontrolled())
	if obs.facts.OpenShift {
		legacy.Name += "-https"
		plan.Delete(&openshift.Route{ObjectMeta: legacy}, apply.Uncontrolled())
		legacy.Name += "-route"
		plan.Delete(&networkingv1.NetworkPolicy{ObjectMeta: legacy}, apply.Uncontrolled())
	}
}

// GetComponentHealth reports how the registry is; of a server there is nothing to tell while the spec is invalid.
func (obs Observation) GetComponentHealth(context.Context) []health.Component {
	spec := health.Component{Name: "Spec", State: health.Ready, Reason: "Valid", Message: "The spec is valid"}
	if obs.invalid != nil {
		spec = health.Component{Name: "Spec", Errors: []error{health.NewError(health.InvalidSpec, "InvalidSpec", obs.invalid.Error(), nil)}}
	} else if obs.unread != nil {
		spec = health.Component{Name: "Spec", Errors: []error{obs.unread}}
	}
	return []health.Component{spec, obs.server}
}

// Migrate moves a deprecated proxy of a registry that was admitted without the webhook.
func (*Reconciler) Migrate(m *v1beta1.ModelRegistry) { m.Spec.MigrateProxy() }

// Finalize waits until the status tells of the deletion. What the registry has outside its namespace is in the inventory.
func (*Reconciler) Finalize(_ context.Context, rc pass, _ Fetched) (plan reconcile.PlanResult, _ error) {
	if !meta.IsStatusConditionTrue(rc.Object.Status.Conditions, conditionDegraded) {
		plan.Hold, plan.RequeueAfter = true, time.Millisecond
	}
	return plan, nil
}
