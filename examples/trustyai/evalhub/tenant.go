package evalhub

import (
	"context"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// TenantName is the name of the controller of [NewTenants].
const TenantName = "trustyai-evalhub-tenant"

// discovery is the ConfigMap with the addresses of a tenant's hubs.
const discovery = "evalhub-discovery"

// Tenants implements the phases of the namespaces of tenants. By default the namespace of a tenant admits the hubs that its
// annotation evalhub.trustyai.opendatahub.io/hubs lists, and a hub gets permissions there when it is ready.
type Tenants struct {
	// All makes every tenant admit every hub of the cluster before it is ready, as in the product. An account that can create a hub can
	// then read, change and delete the Secrets of all tenants.
	All bool
}

// NewTenants declares the controller of the namespaces of tenants. Each namespace with the label is a group and its own member. It
// contains the objects of all hubs that serve the tenant.
func NewTenants(t Tenants) *controller.Controller {
	return controller.NewGroup(TenantName, t).
		Members(&corev1.Namespace{}, tenantKeys).
		Reads(&v1.EvalHub{}, controller.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, readinessChanged))).
		Owns(&corev1.ServiceAccount{}).Owns(&corev1.ConfigMap{}).Owns(&rbacv1.Role{}).
		Owns(&rbacv1.RoleBinding{}).Build()
}

// readinessChanged passes changes of a status that affect permissions.
var readinessChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*v1.EvalHub)
	after, also := e.ObjectNew.(*v1.EvalHub)
	return ok && also && isReady(before) != isReady(after)
}}

func isReady(hub *v1.EvalHub) bool { return hub.Status.Ready == "True" }

func tenantKeys(object client.Object) []types.NamespacedName {
	if !isTenant(object) {
		return nil
	}
	return []types.NamespacedName{{Namespace: object.GetName(), Name: discovery}}
}

// tenant contains the objects that were read for the namespace of a tenant.
type tenant struct {
	controller.Members[*corev1.Namespace]
	hubs    []served
	failure error
}

// served is a hub that serves the namespace.
type served struct {
	names  names
	bundle reconcile.FetchResult[*corev1.ConfigMap] // certificates for MLflow
	// unsettled hubs keep their objects in the namespace, and get no new ones.
	unsettled bool
}

// FetchRemoteState reads the hubs, their namespaces, and their certificates.
func (settings Tenants) FetchRemoteState(
	ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group],
) *tenant {
	t := &tenant{Members: controller.FetchMembers[*corev1.Namespace](ctx, reader, rc.Object, &corev1.NamespaceList{}, nil)}
	if len(t.Valid) == 0 {
		return t
	}
	all := reconcile.FetchList(ctx, reader, &v1.EvalHubList{})
	if t.failure = all.Failure(); t.failure != nil {
		return t
	}
	named := nameAll(all.Value.Items)
	for i := range all.Value.Items {
		hub := &all.Value.Items[i]
		if !hub.DeletionTimestamp.IsZero() || hub.Spec.Tenancy == v1.SingleTenancy || hub.Namespace == rc.Object.Namespace ||
			!settings.admits(t.Valid[0], hub) {
			continue
		}
		account := reconcile.Fetch(ctx, reader, client.ObjectKey{Namespace: hub.Namespace, Name: accountOf(hub.Name)}, &corev1.ServiceAccount{})
		if account.OK() && !owns(hub, account.Value) || account.IsNotFound() {
			continue
		}
		home := reconcile.Fetch(ctx, reader, client.ObjectKey{Name: hub.Namespace}, &corev1.Namespace{})
		key := client.ObjectKey{Namespace: hub.Namespace, Name: long(hub.Name + "-mlflow-ca-bundle")}
		unsettled := refusal(hub, home.Value) != problem{} || !account.OK()
		if !unsettled && !settings.All && !isReady(hub) {
			unsettled = !bound(ctx, reader, named[hub.UID], rc.Object.Namespace)
		}
		bundle := reconcile.Fetch(ctx, reader, key, &corev1.ConfigMap{})
		t.hubs = append(t.hubs, served{names: named[hub.UID], bundle: bundle, unsettled: unsettled})
	}
	slices.SortFunc(t.hubs, func(a, b served) int { return slices.Compare(a.names.order(), b.names.order()) })
	return t
}

// bound reports whether the hub was ready before: it has its permissions in the namespace, and keeps them during a rollout.
func bound(ctx context.Context, reader reconcile.Reader, n names, namespace string) bool {
	key := client.ObjectKey{Namespace: namespace, Name: norm(n.inTenant + "-" + namespace + evaluating[0].suffix)}
	binding := reconcile.Fetch(ctx, reader, key, &rbacv1.RoleBinding{})
	return binding.Value != nil && slices.Equal(binding.Value.Subjects, []rbacv1.Subject{n.server()})
}

func (n names) order() []string { return []string{n.namespace, n.name} }

// PlanResources plans the objects of all hubs, and the ConfigMap with their addresses.
func (Tenants) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*controller.Group], t *tenant,
) (plan reconcile.PlanResult, err error) {
	plan.Policy = apply.Withdraw // hubs and tenants may be deleted while the operator is stopped; their objects are pruned
	if t.failure != nil || len(t.Valid) == 0 {
		return plan, t.failure
	}
	urls := map[string]string{}
	for _, hub := range t.hubs {
		hub.plan(&plan, rc.Object.Namespace)
		if !hub.unsettled {
			urls[hub.names.inTenant+".url"] = hub.names.url("")
		}
	}
	if len(urls) > 0 {
		plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: rc.Object.Namespace, Name: discovery, Labels: map[string]string{"evalhub.trustyai.opendatahub.io/discovery": "true"},
		}, Data: urls}, apply.AdoptUncontrolled)
	}
	return plan, nil
}

// plan plans the objects of a hub in the namespace.
func (s served) plan(plan *reconcile.PlanResult, namespace string) {
	r := rights{plan.Apply, namespace, s.names.jobLabels()}
	if s.unsettled {
		r.apply = func(child client.Object, _ ...apply.ChildOption) { plan.Keep(child) }
	}
	tenantRights(r, s.names)
	serving := &corev1.ConfigMap{ObjectMeta: r.meta(long(s.names.inTenant + "-service-ca"))}
	serving.Annotations = map[string]string{injectCA: "true"}
	r.add(serving)
	bundle := &corev1.ConfigMap{ObjectMeta: r.meta(long(s.names.inTenant + "-mlflow-ca-bundle"))}
	if found := s.bundle.Value; found != nil {
		bundle.Data = found.Data
		r.add(bundle)
	} else {
		plan.Keep(bundle)
	}
}
