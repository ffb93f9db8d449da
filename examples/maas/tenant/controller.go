// Package tenant installs the platform: it renders the manifests and applies
// them while the tenant says so.
package tenant

import (
	"context"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

// The kinds of other projects that only the platform has.
var (
	envoyFilter = schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1alpha3", Kind: "EnvoyFilter"}
	dashboard   = schema.GroupVersionKind{Group: "perses.dev", Version: "v1alpha1", Kind: "PersesDashboard"}
	datasource  = schema.GroupVersionKind{Group: "perses.dev", Version: "v1alpha1", Kind: "PersesDatasource"}
	authorino   = schema.GroupVersionKind{Group: "operator.authorino.kuadrant.io", Version: "v1beta1", Kind: "Authorino"}
	authConfig  = schema.GroupVersionKind{Group: "authorino.kuadrant.io", Version: "v1beta3", Kind: "AuthConfig"}
)

// The objects that the platform needs.
const (
	DatabaseSecret  = "maas-db-config" //nolint:gosec // the name of one
	databaseKey     = "DB_CONNECTION_URL"
	MonitoringSpace = "openshift-monitoring"
	MonitoringName  = "cluster-monitoring-config"
)

// Reconciler of Tenant.
type Reconciler struct {
	backend.Config
	*renderer
}

// New declares the controller of Tenant. The error is one of the manifests.
func New(config backend.Config) (*controller.Controller, error) {
	renderer, err := newRenderer(config.Manifests)
	b := controller.New("maas-tenant", &Reconciler{config, renderer}).
		Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Owns(&gatewayv1.HTTPRoute{}).
		Reads(&gatewayv1.Gateway{}).
		Reads(&corev1.Secret{}).
		Reads(backend.Kind(backend.Authentication), controller.Optional).
		Reads(backend.Kind(authorino), controller.Optional).
		Reads(controller.Metadata(authConfig), controller.Optional).
		Options(controller.Options{Apply: apply.Options{Finalizer: "maas.opendatahub.io/tenant-finalizer", FieldManager: backend.Manager}})
	for _, kind := range []client.Object{
		&corev1.ServiceAccount{}, &appsv1.Deployment{}, &batchv1.CronJob{}, &networkingv1.NetworkPolicy{},
		&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{},
	} {
		b.Owns(kind, controller.Filter(client.MatchingLabelsSelector{Selector: Platform()}))
	}
	for _, kind := range []schema.GroupVersionKind{
		backend.AuthPolicy, backend.TokenRateLimitPolicy, backend.DestinationRule,
		envoyFilter, backend.Telemetry, backend.TelemetryPolicy, dashboard, datasource,
	} {
		b.Owns(backend.Kind(kind), controller.Optional)
	}
	return b.Build(), err
}

// Platform selects the objects of the platform.
func Platform() labels.Selector { return labels.SelectorFromSet(labels.Set{platformLabel: "true"}) }

// world is what is known of the tenant.
type world struct {
	backend.Config
	gatewayKey     types.NamespacedName
	gateway        reconcile.FetchResult[*gatewayv1.Gateway]
	authConfigs    reconcile.FetchResult[*metav1.PartialObjectMetadata]
	database       reconcile.FetchResult[*corev1.Secret]
	monitoring     reconcile.FetchResult[*corev1.ConfigMap]
	authorinos     reconcile.FetchResult[*unstructured.UnstructuredList]
	api            reconcile.FetchResult[*appsv1.Deployment]
	rendered       []manifests.Object
	renderErr      error
	managementWish string
}

// GetComponentHealth reports none: the status has the conditions of the product alone, see DecorateStatus.
func (*world) GetComponentHealth(context.Context) []health.Component { return nil }

// FetchRemoteState reads what the platform needs, renders it, and reads how its
// API is.
func (r *Reconciler) FetchRemoteState(
	ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.Tenant],
) *world {
	tenant := rc.Object
	w := &world{Config: r.Config, gatewayKey: r.Gateway, managementWish: tenant.Annotations["component.opendatahub.io/management-state"]}
	if !tenant.DeletionTimestamp.IsZero() || w.idle() {
		return w
	}
	spec := ptr.Deref(tenant.Spec, maasv1alpha1.TenantSpec{})
	if ref := spec.GatewayRef; ref != nil && (ref.Name != "" || ref.Namespace != "") {
		w.gatewayKey = backend.Key(ref.Namespace, ref.Name)
	}
	if w.halfNamed() {
		return w
	}
	w.gateway = reconcile.Fetch(ctx, reader, w.gatewayKey, &gatewayv1.Gateway{})
	w.authConfigs = reconcile.Fetch(ctx, reader, backend.Key(r.AppNamespace, apiName), controller.Metadata(authConfig)) // is its kind served?
	w.database = reconcile.Fetch(ctx, reader, backend.Key(r.AppNamespace, DatabaseSecret), &corev1.Secret{})
	w.monitoring = reconcile.Fetch(ctx, reader, backend.Key(MonitoringSpace, MonitoringName), &corev1.ConfigMap{})
	w.authorinos = reconcile.FetchList(ctx, reader, backend.List(authorino))
	w.api = reconcile.Fetch(ctx, reader, backend.Key(r.AppNamespace, apiName), &appsv1.Deployment{})
	s := settings{
		Tenant: client.ObjectKeyFromObject(tenant), App: r.AppNamespace, Gateway: w.gatewayKey, Images: r.Images,
		Audience: backend.Audience(reconcile.Fetch(ctx, reader, backend.Key("", "cluster"), backend.Kind(backend.Authentication))),
		OIDC:     spec.ExternalOIDC, Telemetry: spec.Telemetry,
	}
	if spec.APIKeys != nil {
		s.MaxDays = spec.APIKeys.MaxExpirationDays
	}
	w.rendered, w.renderErr = r.render(s)
	return w
}

// PlanResources plans the platform. While something is missing, what is there
// stays; a tenant that is switched off keeps its platform or gives it up.
func (r *Reconciler) PlanResources(_ context.Context, _ reconcile.ReconcileContext[*maasv1alpha1.Tenant], w *world) (reconcile.PlanResult, error) {
	plan, install := reconcile.PlanResult{Hold: !w.idle()}, w.judge().install
	switch {
	case w.managementWish == removed:
		plan.Policy = apply.Withdraw
	case !install:
		plan.Policy = apply.Suspend
	}
	if install {
		for _, object := range w.rendered {
			plan.Apply(object, apply.AdoptUncontrolled)
		}
	}
	return plan, nil
}
