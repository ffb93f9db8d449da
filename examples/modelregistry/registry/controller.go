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
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "modelregistry-controller"

// Finalizer is set on every registry, because a registry has objects outside its namespace.
const Finalizer = "modelregistry.opendatahub.io/finalizer"

// component is the label value of the pods.
const component = "model-registry"

// credentials are the keys of the Secret of a generated database.
var credentials = secrets.Keys{"username": secrets.Literal(v1beta1.DatabaseUser), v1beta1.DatabasePasswordKey: secrets.Random(16)}

// New declares the controller of ModelRegistry.
func New(scheme *runtime.Scheme, settings v1beta1.Settings) (*controller.Controller, error) {
	set, err := newChildren(scheme)
	return controller.New(Name, &Reconciler{settings: settings, children: set}).
		Owns(&corev1.Service{}).Owns(&corev1.ServiceAccount{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
		Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&appsv1.Deployment{}).Owns(&networkingv1.NetworkPolicy{}).Owns(&rbacv1.Role{}).Owns(&rbacv1.RoleBinding{}).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&openshift.Route{}, controller.Optional).
		Owns(&openshift.Group{}, controller.Optional).
		Reads(&corev1.Pod{}, controller.Filter(client.MatchingLabels{"component": component})).
		Reads(&corev1.Endpoints{}). //nolint:staticcheck // the product uses Endpoints
		Reads(&openshift.Ingress{}, controller.Optional).
		Options(controller.Options{Apply: apply.Options{Finalizer: Finalizer}}).Build(), err
}

// GrantedRules are the permissions that the operator grants to others, and so needs itself: to read a registry's Service and
// Endpoints, and those of the ClusterRole system:auth-delegator.
func GrantedRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"endpoints", "services"}, Verbs: []string{"get"}},
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	}
}

// Reconciler implements the phases of ModelRegistry. Create its controller with [New].
type Reconciler struct {
	settings v1beta1.Settings
	children *children.Set[facts]
}

type rcontext = reconcile.ReconcileContext[*v1beta1.ModelRegistry]

// Fetched contains the objects that were read for a registry.
type Fetched struct {
	deployment  reconcile.FetchResult[*appsv1.Deployment]
	endpoints   reconcile.FetchResult[*corev1.Endpoints] //nolint:staticcheck // the product uses this kind
	pods        reconcile.FetchResult[*corev1.PodList]
	route       reconcile.FetchResult[*openshift.Route]
	group       reconcile.FetchResult[*openshift.Group]
	ingress     reconcile.FetchResult[*openshift.Ingress]
	secret      reconcile.FetchResult[*corev1.Secret]
	credentials reconcile.FetchResult[map[string][]byte]
}

// FetchRemoteState reads the inputs of the plan and of the status.
func (r *Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) (f Fetched) {
	m := rc.Object
	if !m.DeletionTimestamp.IsZero() {
		return f
	}
	key := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: m.Namespace, Name: name} }
	f.deployment = reconcile.Fetch(ctx, reader, key(m.Name), &appsv1.Deployment{})
	f.endpoints = reconcile.Fetch(ctx, reader, key(m.Name), &corev1.Endpoints{}) //nolint:staticcheck // as above
	f.pods = reconcile.FetchList(ctx, reader, &corev1.PodList{}, client.InNamespace(m.Namespace),
		client.MatchingLabels{"app": m.Name, "component": component, "app.kubernetes.io/name": m.Name})
	f.route = reconcile.Fetch(ctx, reader, key(m.Name+"-https"), &openshift.Route{})
	f.group = reconcile.Fetch(ctx, reader, client.ObjectKey{Name: m.Name + "-users"}, &openshift.Group{})
	if proxy := m.Spec.KubeRBACProxy; proxy != nil && proxy.Domain == "" && r.settings.DefaultDomain == "" {
		f.ingress = reconcile.Fetch(ctx, reader, client.ObjectKey{Name: "cluster"}, &openshift.Ingress{})
	}
	if m.Spec.Postgres.Generated() {
		f.secret = reconcile.Fetch(ctx, reader, key(v1beta1.CredentialsName(m.Name)), &corev1.Secret{})
		f.credentials = secrets.Fetch(ctx, reader, key(v1beta1.CredentialsName(m.Name)), credentials)
	}
	return f
}

// Observation is derived from Fetched.
type Observation struct {
	Fetched
	registry *v1beta1.ModelRegistry
	facts    facts
	invalid  *health.Error // the error in the spec

	server, proxy health.Component
	updating      bool          // the status belongs to an earlier spec
	requeueAfter  time.Duration // zero if only an event changes the result
}

// ComposeState derives the observation.
func (r *Reconciler) ComposeState(_ context.Context, rc rcontext, fetched Fetched) Observation {
	m, proxy := rc.Object, rc.Object.Spec.KubeRBACProxy
	spec := r.settings.Effective(m, fetched.ingress.Value.RouteDomain())
	f := facts{
		Name: m.Name, Namespace: m.Namespace, Owner: metav1.NewControllerRef(m, v1beta1.GroupVersion.WithKind("ModelRegistry")),
		Spec: spec, Proxy: spec.KubeRBACProxy, ServingCertificate: proxy != nil && proxy.TLSCertificateSecret == nil,
		Generated: m.Spec.Postgres.Generated(), Credentials: fetched.credentials.Value,
		OwnCredentials: fetched.secret.IsNotFound() || fetched.secret.Value != nil && metav1.IsControlledBy(fetched.secret.Value, m),
		Annotations:    naming.MatchingLabels(m.Annotations, "openshift.io/display-name", "openshift.io/description"),
		OpenShift:      !controller.IsAbsent(fetched.route.Error), Users: !controller.IsAbsent(fetched.group.Error),
	}
	if f.Generated {
		f.DatabaseImage = cmp.Or(m.Spec.Postgres.Image, r.settings.PostgresImage)
	}
	if f.published() && f.Proxy.Domain != "" {
		f.Host = m.Name + "-rest." + f.Proxy.Domain
	}
	obs := Observation{Fetched: fetched, registry: m, facts: f}
	problems := spec.Validate()
	if !r.settings.Webhooks {
		problems = m.Validate(r.settings.Namespace)
	}
	if len(problems) > 0 {
		obs.invalid = health.NewError(health.InvalidSpec, "InvalidSpec", problems.ToAggregate().Error(), nil)
	} else {
		obs.availability(rc.Now)
	}
	return obs
}

// PlanResources returns the children, and deletes objects that an early version created for each registry. For a registry named
// model these would be objects of the model catalog, so it excludes them.
func (r *Reconciler) PlanResources(_ context.Context, _ rcontext, obs Observation) (reconcile.PlanResult, error) {
	if obs.invalid != nil {
		return reconcile.PlanResult{}, obs.invalid
	}
	plan, err := r.children.Plan(obs.facts)
	plan.RequeueAfter = obs.requeueAfter
	legacy := func(suffix string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: obs.facts.Namespace, Name: obs.facts.Name + "-catalog" + suffix}
	}
	if obs.facts.Name != "model" {
		plan.Delete(&appsv1.Deployment{ObjectMeta: legacy("")}, apply.Uncontrolled())
		plan.Delete(&corev1.Service{ObjectMeta: legacy("")}, apply.Uncontrolled())
	}
	if obs.facts.Name != "model" && obs.facts.OpenShift {
		plan.Delete(&openshift.Route{ObjectMeta: legacy("-https")}, apply.Uncontrolled())
		plan.Delete(&networkingv1.NetworkPolicy{ObjectMeta: legacy("-https-route")}, apply.Uncontrolled())
	}
	return plan, err
}

// GetComponentHealth returns the health of the registry. It has no server while the spec is invalid.
func (obs Observation) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{obs.server}
}

// Migrate moves a deprecated proxy of a registry that was admitted without the webhook.
func (*Reconciler) Migrate(m *v1beta1.ModelRegistry) { m.Spec.MigrateProxy() }

// Finalize waits until the status reports the deletion. The inventory contains the objects outside the namespace.
func (*Reconciler) Finalize(_ context.Context, rc rcontext, _ Fetched) (plan reconcile.PlanResult, _ error) {
	if !meta.IsStatusConditionTrue(rc.Object.Status.Conditions, conditionDegraded) {
		plan.Hold, plan.RequeueAfter = true, time.Millisecond
	}
	return plan, nil
}
