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
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

// Home keeps the namespace of subscriptions and the tenant in it in existence.
// It is a runnable of the manager, and looks into the manager's cache.
type Home struct {
	engine   *engine.Engine
	reader   client.Reader
	config   backend.Config
	interval time.Duration
}

// NewHome returns the keeper, which looks at every interval.
func NewHome(mgr manager.Manager, config backend.Config, interval time.Duration) (*Home, error) {
	engine, err := engine.New(mgr.GetClient(), mgr.GetAPIReader(), apply.Options{FieldManager: backend.Manager})
	return &Home{engine: engine, reader: mgr.GetClient(), config: config, interval: interval}, err
}

// ensure creates what is missing; what exists is left alone.
func (h *Home) ensure(ctx context.Context) error {
	owner := controller.GroupOf("maas-home")
	owner.Name, owner.UID = h.config.SubscriptionNamespace, "maas-home"
	var set apply.Plan
	set.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.config.SubscriptionNamespace, Labels: map[string]string{
		"opendatahub.io/generated-namespace": "true", backend.ManagedBy: backend.Manager, backend.PartOf: backend.Manager,
	}}}, apply.Once)
	set.Apply(&maasv1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: h.config.SubscriptionNamespace, Name: maasv1alpha1.TenantName},
		Spec: &maasv1alpha1.TenantSpec{GatewayRef: &maasv1alpha1.TenantGatewayRef{
			Namespace: h.config.Gateway.Namespace, Name: h.config.Gateway.Name,
		}},
	}, apply.Once)
	return h.engine.Apply(ctx, owner, set).Err()
}

// Start implements manager.Runnable.
func (h *Home) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := h.ensure(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "look after the namespace of subscriptions", "namespace", h.config.SubscriptionNamespace)
		}
	}, h.interval)
	return nil
}

// Ready is a readiness check: subscriptions need their namespace.
func (h *Home) Ready(request *http.Request) error {
	home := &corev1.Namespace{}
	if err := h.reader.Get(request.Context(), client.ObjectKey{Name: h.config.SubscriptionNamespace}, home); err != nil {
		return fmt.Errorf("namespace of subscriptions: %w", err)
	}
	if !home.DeletionTimestamp.IsZero() {
		return errors.New("the namespace of subscriptions is being deleted")
	}
	return nil
}
