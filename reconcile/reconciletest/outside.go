package reconciletest

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// OutsideOf returns what System.Outside has made for the world that the manager of a Setup works on, nil for any other manager.
func OutsideOf(mgr manager.Manager) any {
	if m, ok := mgr.(*run.TestManager); ok {
		return m.Outside()
	}
	return nil
}

// OutsideFrom returns what System.Outside has made for the world that a [StandIn] is called on, nil for any other context.
func OutsideFrom(ctx context.Context) any { return world.OutsideFrom(ctx) }
