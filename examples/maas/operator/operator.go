// Package operator sets up the controllers of the product.
package operator

import (
	"errors"
	"os"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	sdk "github.com/reconcilekit/reconcilekit/reconcile/operator"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/authpolicy"
	"github.com/reconcilekit/reconcilekit/examples/maas/catalogapi"
	"github.com/reconcilekit/reconcilekit/examples/maas/externalmodel"
	"github.com/reconcilekit/reconcilekit/examples/maas/modelref"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
	"github.com/reconcilekit/reconcilekit/examples/maas/subscription"
	"github.com/reconcilekit/reconcilekit/examples/maas/tenant"
)

// Configure adds the controllers to the configuration. The namespace of subscriptions is checked at each interval. Environment
// variables name the manifests and images of the platform. Configure returns an error for invalid manifests or templates.
func Configure(o *sdk.Operator, config models.Config, interval time.Duration, catalog Catalog) error {
	config.Manifests, config.Images = environment()
	external, externalErr := externalmodel.New(config)
	access, accessErr := authpolicy.NewAccess(config)
	limits, limitsErr := subscription.NewLimits()
	platform, platformErr := tenant.New(config)
	o.Controllers = []*controller.Controller{
		external, modelref.New(config), access, authpolicy.New(access), limits, subscription.New(limits), platform,
	}
	o.Manager = func(options *manager.Options) { Narrow(&options.Cache, config) }
	o.Setup = func(mgr manager.Manager) error {
		bootstrap, err := NewBootstrap(mgr, config, interval)
		return errors.Join(err, mgr.Add(bootstrap), mgr.AddReadyzCheck("subscription-namespace", bootstrap.Ready), catalog.add(mgr, config))
	}
	o.Describe = func(page *dataflow.Page) (err error) {
		page.Services = append([]dataflow.Service{{Name: page.Name + "-metrics", Port: 8443, PortName: "metrics"}}, tenant.Services()...)
		page.Endpoints = catalogapi.Endpoints()
		page.ExtraRules, err = extraRules()
		return err
	}
	return errors.Join(externalErr, accessErr, limitsErr, platformErr)
}

// environment reads the folder of the platform's manifests, and the images by the parameter of the manifests.
func environment() (manifests string, images map[string]string) {
	images = map[string]string{}
	for param, variable := range map[string]string{
		"maas-api-image":             "RELATED_IMAGE_ODH_MAAS_API_IMAGE",
		"maas-controller-image":      "RELATED_IMAGE_ODH_MAAS_CONTROLLER_IMAGE",
		"payload-processing-image":   "RELATED_IMAGE_ODH_AI_GATEWAY_PAYLOAD_PROCESSING_IMAGE",
		"maas-api-key-cleanup-image": "RELATED_IMAGE_UBI_MINIMAL_IMAGE",
	} {
		if image := os.Getenv(variable); image != "" {
			images[param] = image
		}
	}
	return os.Getenv("MAAS_PLATFORM_MANIFESTS"), images
}

// Narrow restricts the manager's cache: it contains subscriptions, auth policies and tenants only of their namespace, and of kinds
// with many objects only the objects that the operator needs.
func Narrow(options *cache.Options, config models.Config) {
	scope := cache.ByObject{Namespaces: map[string]cache.Config{config.SubscriptionNamespace: {}}}
	for _, object := range []client.Object{&maasv1alpha1.MaaSSubscription{}, &maasv1alpha1.MaaSAuthPolicy{}, &maasv1alpha1.Tenant{}} {
		options.ByObject[object] = scope
	}
	options.ByObject[&corev1.Namespace{}] = cache.ByObject{Field: named(config.SubscriptionNamespace)}
	options.ByObject[&corev1.Secret{}] = cache.ByObject{Namespaces: map[string]cache.Config{
		config.AppNamespace: {FieldSelector: named(tenant.DatabaseSecret)},
	}}
	options.ByObject[&corev1.ConfigMap{}] = cache.ByObject{Namespaces: map[string]cache.Config{
		tenant.MonitoringSpace: {FieldSelector: named(tenant.MonitoringName)},
		cache.AllNamespaces:    {LabelSelector: tenant.Platform()},
	}}
}

func named(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }

// extraRules are permissions that do not follow from the declarations: to create the namespace of subscriptions and its tenant; to
// block the deletion of the route that controls a policy of limits; and all permissions that the platform's roles grant, because a
// subject can grant only permissions that it has.
func extraRules() ([]rbacv1.PolicyRule, error) {
	granted, err := tenant.Granted()
	return append([]rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list", "watch", "create"},
	}, {
		APIGroups: []string{"maas.opendatahub.io"}, Resources: []string{"tenants"}, Verbs: []string{"create"},
	}, {
		APIGroups: []string{"gateway.networking.k8s.io"}, Resources: []string{"httproutes/finalizers"}, Verbs: []string{"update"},
	}}, granted...), err
}
