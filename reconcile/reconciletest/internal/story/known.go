package story

import (
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// Known is the information from the runs without faults.
type Known struct {
	System  description.Prepared
	Probe   *world.World          // step A in steady state
	Pair    *description.Prepared // the system with a second owner, if that does not affect the first
	PairEnd world.State           // end state of that system, nil if its passes are never concurrent
	Stories []*Story
}

// Disturbs reports whether the system has cases in which others disturb a world in steady state.
func (k *Known) Disturbs() bool {
	return k.System.Horizon == 0 && len(k.Stories) > 0 && k.System.Singleton == nil && k.Probe != nil
}
