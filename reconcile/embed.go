package reconcile

import (
	"context"

	"github.com/reconcilekit/reconcilekit/health"
)

// AsFetched is embedded by a [Reconciler] that has nothing to derive: its observation is what it has fetched.
type AsFetched[T Owner, F Observation] struct{}

// ComposeState returns what was fetched.
func (AsFetched[T, F]) ComposeState(_ context.Context, _ ReconcileContext[T], fetched F) F {
	return fetched
}

// NoChildren is embedded by a [Reconciler] that plans nothing, because all it does is to tell in the status what it sees.
type NoChildren[T Owner, O Observation] struct{}

// PlanResources plans nothing.
func (NoChildren[T, O]) PlanResources(context.Context, ReconcileContext[T], O) PlanResult {
	return PlanResult{}
}

// NoComponents is embedded by an [Observation] that reports no component, because the status says how the parts are in
// words of its own.
type NoComponents struct{}

// GetComponentHealth returns none.
func (NoComponents) GetComponentHealth(context.Context) []health.Component { return nil }
