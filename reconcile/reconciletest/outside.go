package reconciletest

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// OutsideOf returns the result of System.Outside for the world of a manager that Setup receives, nil for any other manager.
func OutsideOf(mgr manager.Manager) any {
	if m, ok := mgr.(*run.TestManager); ok {
		return m.Outside()
	}
	return nil
}

// OutsideFrom returns the result of System.Outside for the world of a [StandIn]'s context, nil for any other context.
func OutsideFrom(ctx context.Context) any { return world.OutsideFrom(ctx) }
