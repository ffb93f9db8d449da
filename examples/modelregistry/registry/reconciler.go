package registry

import (
	"cmp"
	"context"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
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
	"k8s.io/apimachinery/pkg/util/validation/field"
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
		client.MatchingLabels(facts{Name: m.Name}.Selector(m.Name)))
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
	problems field.ErrorList
	look     time.Duration // when to look again, zero is when something changes
	unread   error         // of the credentials

	server, proxy health.Component
	deployed      bool // there is a Deployment
	updating      bool // the status speaks of an earlier spec
}

// ComposeState derives the facts and the availability.
func (r *Reconciler) ComposeState(_ context.Context, rc pass, f Fetched) Observation {
	obs := Observation{registry: rc.Object, deployed: f.deployment.OK(), updating: updates(rc.Object), facts: r.facts(rc.Object, f)}
	obs.problems = obs.facts.Spec.Validate()
	if !r.settings.Webhooks {
		obs.problems = rc.Object.Validate(r.settings.Namespace)
	}
	if len(obs.problems) > 0 {
		return obs
	}
	obs.unread = f.credentials.Error
	obs.availability(f, rc.Now)
	return obs
}

func (r *Reconciler) facts(m *v1beta1.ModelRegistry, f Fetched) facts {
	clusterDomain := ""
	if f.ingress.OK() && f.ingress.Value != nil {
		clusterDomain = cmp.Or(f.ingress.Value.Spec.AppsDomain, f.ingress.Value.Spec.Domain)
	}
	spec := r.settings.Effective(m, clusterDomain)
	out := facts{
		Name: m.Name, Namespace: m.Namespace, Owner: metav1.NewControllerRef(m, v1beta1.GroupVersion.WithKind("ModelRegistry")),
		Spec: spec, Proxy: spec.KubeRBACProxy,
		Generated: m.Spec.Postgres.Generated(), Credentials: f.credentials.Value,
		OwnCredentials:     f.secret.IsNotFound() || f.secret.OK() && f.secret.Value != nil && metav1.IsControlledBy(f.secret.Value, m),
		ServingCertificate: m.Spec.KubeRBACProxy != nil && m.Spec.KubeRBACProxy.TLSCertificateSecret == nil,
		Annotations:        map[string]string{},
		OpenShift:          !controller.IsAbsent(f.route.Error), Users: !controller.IsAbsent(f.group.Error),
	}
	if out.Generated {
		out.DatabaseImage = cmp.Or(m.Spec.Postgres.Image, r.settings.PostgresImage)
	}
	if out.published() && out.Proxy.Domain != "" {
		out.Host = m.Name + "-rest." + out.Proxy.Domain
	}
	for _, name := range []string{"openshift.io/display-name", "openshift.io/description"} {
		if text, set := m.Annotations[name]; set {
			out.Annotations[name] = text
		}
	}
	return out
}

// deleteLegacy removes what an early version made for each registry. Those of a registry called model would be the objects
// of the model catalog, which is another controller's.
func (obs *Observation) deleteLegacy(plan *reconcile.PlanResult) {
	name := obs.facts.Name + "-catalog"
	if name == "model-catalog" {
		return
	}
	named := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: obs.facts.Namespace, Name: name + suffix}
	}
	plan.Delete(&appsv1.Deployment{ObjectMeta: named("")}, apply.Uncontrolled())
	plan.Delete(&corev1.Service{ObjectMeta: named("")}, apply.Uncontrolled())
	if obs.facts.OpenShift {
		plan.Delete(&openshift.Route{ObjectMeta: named("-https")}, apply.Uncontrolled())
		plan.Delete(&networkingv1.NetworkPolicy{ObjectMeta: named("-https-route")}, apply.Uncontrolled())
	}
}

// PlanResources returns the children.
func (r *Reconciler) PlanResources(_ context.Context, _ pass, obs Observation) (reconcile.PlanResult, error) {
	if len(obs.problems) > 0 {
		return reconcile.PlanResult{}, nil
	}
	plan, err := r.children.Plan(obs.facts)
	plan.RequeueAfter = obs.look
	obs.deleteLegacy(&plan)
	return plan, err
}

// GetComponentHealth reports how the registry is.
func (obs Observation) GetComponentHealth(context.Context) []health.Component {
	spec := health.Component{Name: "Spec", State: health.Ready, Reason: "Valid", Message: "The spec is valid"}
	if obs.unread != nil {
		spec = health.Component{Name: "Spec", Errors: []error{obs.unread}}
	}
	if len(obs.problems) > 0 {
		invalid := health.NewError(health.InvalidSpec, "InvalidSpec", obs.problems.ToAggregate().Error(), nil)
		return []health.Component{{Name: "Spec", Errors: []error{invalid}}}
	}
	return []health.Component{spec, obs.server}
}

// Migrate moves a deprecated proxy of a registry that was admitted without the webhook.
func (*Reconciler) Migrate(m *v1beta1.ModelRegistry) {
	m.Spec.MigrateProxy()
}

// Finalize waits until the status tells of the deletion. What the registry has outside its namespace is in the inventory.
func (*Reconciler) Finalize(_ context.Context, rc pass, _ Fetched) (plan reconcile.PlanResult, _ error) {
	if !told(rc.Object) {
		plan.Hold, plan.RequeueAfter = true, time.Millisecond
	}
	return plan, nil
}

func told(m *v1beta1.ModelRegistry) bool {
	c := meta.FindStatusCondition(m.Status.Conditions, conditionDegraded)
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason == reasonFinalizing
}
