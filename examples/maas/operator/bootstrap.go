package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// Bootstrap creates the namespace of subscriptions and its tenant if they are missing. It is a runnable of the manager, and reads
// from the manager's cache.
type Bootstrap struct {
	engine   *engine.Engine
	reader   client.Reader
	config   models.Config
	interval time.Duration
}

// NewBootstrap returns a runnable that checks at each interval.
func NewBootstrap(mgr manager.Manager, config models.Config, interval time.Duration) (*Bootstrap, error) {
	engine, err := engine.New(mgr.GetClient(), mgr.GetAPIReader(), apply.Options{FieldManager: models.Manager})
	return &Bootstrap{engine: engine, reader: mgr.GetClient(), config: config, interval: interval}, err
}

// ensure creates missing objects and does not change existing ones.
func (b *Bootstrap) ensure(ctx context.Context) error {
	owner := controller.GroupOf("maas-home")
	owner.Name, owner.UID = b.config.SubscriptionNamespace, "maas-home"
	var set apply.Plan
	set.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.config.SubscriptionNamespace, Labels: map[string]string{
		"opendatahub.io/generated-namespace": "true", models.ManagedBy: models.Manager, models.PartOf: models.Manager,
	}}}, apply.Once)
	set.Apply(&maasv1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.config.SubscriptionNamespace, Name: maasv1alpha1.TenantName},
		Spec: &maasv1alpha1.TenantSpec{GatewayRef: &maasv1alpha1.TenantGatewayRef{
			Namespace: b.config.Gateway.Namespace, Name: b.config.Gateway.Name,
		}},
	}, apply.Once)
	return b.engine.Apply(ctx, owner, set).Err()
}

// Start implements manager.Runnable.
func (b *Bootstrap) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := b.ensure(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "ensure the namespace of subscriptions", "namespace", b.config.SubscriptionNamespace)
		}
	}, b.interval)
	return nil
}

// Ready is a readiness check. It fails while the namespace of subscriptions is missing.
func (b *Bootstrap) Ready(request *http.Request) error {
	namespace := &corev1.Namespace{}
	if err := b.reader.Get(request.Context(), client.ObjectKey{Name: b.config.SubscriptionNamespace}, namespace); err != nil {
		return fmt.Errorf("namespace of subscriptions: %w", err)
	}
	if !namespace.DeletionTimestamp.IsZero() {
		return errors.New("the namespace of subscriptions is being deleted")
	}
	return nil
}
