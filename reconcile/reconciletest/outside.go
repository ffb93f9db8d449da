package reconciletest

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// OutsideOf returns the result of System.Outside for the cluster of a manager that Setup receives, nil for any other manager.
func OutsideOf(mgr manager.Manager) any {
	if m, ok := mgr.(*run.TestManager); ok {
		return m.Outside()
	}
	return nil
}

// OutsideFrom returns the result of System.Outside for the cluster of a [StandIn]'s context, nil for any other context.
func OutsideFrom(ctx context.Context) any { return cluster.OutsideFrom(ctx) }
