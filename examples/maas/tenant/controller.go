// Package tenant reconciles Tenant: it renders the manifests of the platform and applies them while the tenant is managed.
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
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// The kinds of other projects that only the platform uses.
var (
	envoyFilter = schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1alpha3", Kind: "EnvoyFilter"}
	dashboard   = schema.GroupVersionKind{Group: "perses.dev", Version: "v1alpha1", Kind: "PersesDashboard"}
	datasource  = schema.GroupVersionKind{Group: "perses.dev", Version: "v1alpha1", Kind: "PersesDatasource"}
	authorino   = schema.GroupVersionKind{Group: "operator.authorino.kuadrant.io", Version: "v1beta1", Kind: "Authorino"}
	authConfig  = schema.GroupVersionKind{Group: "authorino.kuadrant.io", Version: "v1beta3", Kind: "AuthConfig"}
)

// The objects that the platform needs.
const (
	DatabaseSecret  = "maas-db-config" //nolint:gosec // the name of such an object
	databaseKey     = "DB_CONNECTION_URL"
	MonitoringSpace = "openshift-monitoring"
	MonitoringName  = "cluster-monitoring-config"
)

// Reconciler reconciles Tenant.
type Reconciler struct {
	models.Config
	*renderer
}

// New declares the controller of Tenant. It returns an error if the manifests are invalid.
func New(config models.Config) (*controller.Controller, error) {
	renderer, err := newRenderer(config.Manifests)
	b := controller.New("maas-tenant", &Reconciler{config, renderer}).
		Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Owns(&gatewayv1.HTTPRoute{}).
		Reads(&gatewayv1.Gateway{}).
		Reads(&corev1.Secret{}).
		Reads(models.Kind(models.Authentication), controller.Optional).
		Reads(models.Kind(authorino), controller.Optional).
		Reads(controller.Metadata(authConfig), controller.Optional).
		Options(controller.Options{Apply: apply.Options{Finalizer: "maas.opendatahub.io/tenant-finalizer", FieldManager: models.Manager}})
	for _, kind := range []client.Object{
		&corev1.ServiceAccount{}, &appsv1.Deployment{}, &batchv1.CronJob{}, &networkingv1.NetworkPolicy{},
		&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{},
	} {
		b.Owns(kind, controller.Filter(client.MatchingLabelsSelector{Selector: Platform()}))
	}
	for _, kind := range []schema.GroupVersionKind{
		models.AuthPolicy, models.TokenRateLimitPolicy, models.DestinationRule,
		envoyFilter, models.Telemetry, models.TelemetryPolicy, dashboard, datasource,
	} {
		b.Owns(models.Kind(kind), controller.Optional)
	}
	return b.Build(), err
}

// Platform selects the objects of the platform.
func Platform() labels.Selector { return labels.SelectorFromSet(labels.Set{platformLabel: "true"}) }

// managementAnnotation switches the platform off, see [managed].
const managementAnnotation = "component.opendatahub.io/management-state"

// fetched contains the objects that were read for a tenant. They are zero for a tenant that is switched off, or that names only part
// of a gateway.
type fetched struct {
	gateway        reconcile.FetchResult[*gatewayv1.Gateway]
	authConfigs    reconcile.FetchResult[*metav1.PartialObjectMetadata]
	authentication reconcile.FetchResult[*unstructured.Unstructured]
	database       reconcile.FetchResult[*corev1.Secret]
	monitoring     reconcile.FetchResult[*corev1.ConfigMap]
	authorinos     reconcile.FetchResult[*unstructured.UnstructuredList]
	api            reconcile.FetchResult[*appsv1.Deployment]
}

// FetchRemoteState reads the prerequisites of the platform, and the state of its API.
func (r *Reconciler) FetchRemoteState(
	ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[*maasv1alpha1.Tenant],
) (f fetched) {
	obs := r.observe(rc.Object)
	if !rc.Object.DeletionTimestamp.IsZero() || obs.idle() || obs.halfNamed() {
		return f
	}
	f.gateway = reconcile.Fetch(ctx, reader, obs.gatewayKey, &gatewayv1.Gateway{})
	f.authConfigs = reconcile.Fetch(ctx, reader, models.Key(r.AppNamespace, apiName), controller.Metadata(authConfig)) // to check the kind
	f.authentication = reconcile.Fetch(ctx, reader, models.Key("", "cluster"), models.Kind(models.Authentication))
	f.database = reconcile.Fetch(ctx, reader, models.Key(r.AppNamespace, DatabaseSecret), &corev1.Secret{})
	f.monitoring = reconcile.Fetch(ctx, reader, models.Key(MonitoringSpace, MonitoringName), &corev1.ConfigMap{})
	f.authorinos = reconcile.FetchList(ctx, reader, models.List(authorino))
	f.api = reconcile.Fetch(ctx, reader, models.Key(r.AppNamespace, apiName), &appsv1.Deployment{})
	return f
}

// observation is derived from fetched.
type observation struct {
	models.Config
	fetched
	gatewayKey      types.NamespacedName
	managementState string
	rendered        []manifests.Object // of the platform
	renderErr       error
}

// observe derives the settings of the tenant.
func (r *Reconciler) observe(tenant *maasv1alpha1.Tenant) *observation {
	obs := &observation{Config: r.Config, gatewayKey: r.Gateway, managementState: tenant.Annotations[managementAnnotation]}
	ref := ptr.Deref(tenant.Spec, maasv1alpha1.TenantSpec{}).GatewayRef
	if ref != nil && (ref.Name != "" || ref.Namespace != "") {
		obs.gatewayKey = models.Key(ref.Namespace, ref.Name)
	}
	return obs
}

// ComposeState renders the platform, unless the tenant is switched off.
func (r *Reconciler) ComposeState(_ context.Context, rc reconcile.ReconcileContext[*maasv1alpha1.Tenant], f fetched) *observation {
	tenant, obs := rc.Object, r.observe(rc.Object)
	obs.fetched = f
	if !tenant.DeletionTimestamp.IsZero() || obs.idle() || obs.halfNamed() {
		return obs
	}
	spec := ptr.Deref(tenant.Spec, maasv1alpha1.TenantSpec{})
	s := settings{
		Tenant: client.ObjectKeyFromObject(tenant), App: r.AppNamespace, Gateway: obs.gatewayKey, Images: r.Images,
		Audience: models.Audience(f.authentication), OIDC: spec.ExternalOIDC, Telemetry: spec.Telemetry,
	}
	if spec.APIKeys != nil {
		s.MaxDays = spec.APIKeys.MaxExpirationDays
	}
	obs.rendered, obs.renderErr = r.render(s)
	return obs
}

// GetComponentHealth returns no components: the status has only the conditions of the product, see DecorateStatus.
func (*observation) GetComponentHealth(context.Context) []health.Component { return nil }

// PlanResources plans the platform. While a prerequisite is missing, existing objects stay. A tenant that is switched off keeps its
// platform or deletes it.
func (r *Reconciler) PlanResources(
	_ context.Context, _ reconcile.ReconcileContext[*maasv1alpha1.Tenant], obs *observation,
) (reconcile.PlanResult, error) {
	plan, install := reconcile.PlanResult{Hold: !obs.idle()}, obs.outcome().install
	switch {
	case obs.managementState == removed:
		plan.Policy = apply.Withdraw
	case !install:
		plan.Policy = apply.Suspend
	}
	if install {
		for _, object := range obs.rendered {
			plan.Apply(object, apply.AdoptUncontrolled)
		}
	}
	return plan, nil
}
