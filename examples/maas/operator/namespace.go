package operator

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// Home keeps the namespace of subscriptions in existence. It is a runnable of
// the manager.
type Home struct {
	engine   *apply.Engine
	name     string
	interval time.Duration
}

// NewHome returns the keeper of the namespace, which looks after it at every
// interval. The client reads without a cache.
func NewHome(c client.Client, config backend.Config, interval time.Duration) (*Home, error) {
	engine, err := apply.New(c, c, apply.Options{FieldManager: backend.Manager})
	return &Home{engine: engine, name: config.SubscriptionNamespace, interval: interval}, err
}

// Ensure creates the namespace if there is none; one that exists is left alone.
// Without the right to look, somebody else cares for it.
func (h *Home) Ensure(ctx context.Context) error {
	owner := controller.GroupOf("maas-home")
	owner.Name, owner.UID = h.name, "maas-home"
	var set apply.Set
	set.ApplyOnce(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.name, Labels: map[string]string{
		"opendatahub.io/generated-namespace": "true", backend.ManagedBy: backend.Manager, backend.PartOf: backend.Manager,
	}}})
	if err := h.engine.Apply(ctx, owner, set).Err(); !apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// Start implements manager.Runnable.
func (h *Home) Start(ctx context.Context) error {
	ticker := time.NewTicker(h.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := h.Ensure(ctx); err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "look after the namespace of subscriptions", "namespace", h.name)
			}
		}
	}
}
