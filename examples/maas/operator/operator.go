// Package operator puts the controllers together.
package operator

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/authpolicy"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/examples/maas/externalmodel"
	"github.com/reconcilekit/reconcilekit/examples/maas/modelref"
	"github.com/reconcilekit/reconcilekit/examples/maas/subscription"
	"github.com/reconcilekit/reconcilekit/examples/maas/tenant"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// Operator is all controllers of the product.
type Operator struct {
	config      backend.Config
	controllers []declared
}

type declared interface {
	controller.Declared
	SetupWithManager(mgr manager.Manager) error
}

// New declares the controllers. The error is one of the platform's manifests.
func New(config backend.Config) (*Operator, error) {
	access, limits := authpolicy.NewAccess(config), subscription.NewLimits()
	platform, err := tenant.New(config)
	return &Operator{config: config, controllers: []declared{
		externalmodel.New(config), modelref.New(config), access, authpolicy.New(access), limits, subscription.New(limits), platform,
	}}, err
}

// Declared lists the controllers for the page.
func (o *Operator) Declared() []controller.Declared {
	list := make([]controller.Declared, 0, len(o.controllers))
	for _, c := range o.controllers {
		list = append(list, c)
	}
	return list
}

// Cache are the options of the manager's cache: subscriptions, auth policies
// and tenants outside of their namespace do not exist for the operator, and of
// kinds with many objects it keeps those that it needs.
func (o *Operator) Cache(scheme *runtime.Scheme) (cache.Options, error) {
	options, err := controller.CacheOptions(scheme, o.Declared()...)
	if err != nil {
		return options, err
	}
	scope := cache.ByObject{Namespaces: map[string]cache.Config{o.config.SubscriptionNamespace: {}}}
	for _, object := range []client.Object{&maasv1alpha1.MaaSSubscription{}, &maasv1alpha1.MaaSAuthPolicy{}, &maasv1alpha1.Tenant{}} {
		options.ByObject[object] = scope
	}
	options.ByObject[&corev1.Namespace{}] = cache.ByObject{Field: named(o.config.SubscriptionNamespace)}
	options.ByObject[&corev1.Secret{}] = cache.ByObject{Namespaces: map[string]cache.Config{
		o.config.AppNamespace: {FieldSelector: named(tenant.DatabaseSecret)},
	}}
	options.ByObject[&corev1.ConfigMap{}] = cache.ByObject{Namespaces: map[string]cache.Config{
		tenant.MonitoringSpace: {FieldSelector: named(tenant.MonitoringName)},
		cache.AllNamespaces:    {LabelSelector: tenant.Platform()},
	}}
	return options, nil
}

func named(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }

// SetupWithManager adds the controllers to the manager.
func (o *Operator) SetupWithManager(mgr manager.Manager) error {
	for _, c := range o.controllers {
		if err := c.SetupWithManager(mgr); err != nil {
			return err
		}
	}
	return nil
}

// ExtraRules are rights that do not follow from the declarations: the namespace
// of subscriptions and the tenant in it, that policies of limits block the
// deletion of the route that controls them, and what the platform's own roles
// grant, as nobody may grant more than he has.
func ExtraRules() ([]rbacv1.PolicyRule, error) {
	granted, err := tenant.Granted()
	return append([]rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list", "watch", "create"},
	}, {
		APIGroups: []string{"maas.opendatahub.io"}, Resources: []string{"tenants"}, Verbs: []string{"create"},
	}, {
		APIGroups: []string{"gateway.networking.k8s.io"}, Resources: []string{"httproutes/finalizers"}, Verbs: []string{"update"},
	}}, granted...), err
}
