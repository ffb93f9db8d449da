package story

import (
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// Known is what the runs without faults have shown of a system.
type Known struct {
	System  description.Prepared
	Probe   *world.World          // step A at rest
	Pair    *description.Prepared // the system with a second owner, when that makes no difference to the first
	PairEnd world.State           // how that system ends, nil when its passes are never side by side
	Stories []*Story
}

// Disturbs reports whether the system has cases in which others disturb a world at rest.
func (k *Known) Disturbs() bool {
	return k.System.Horizon == 0 && len(k.Stories) > 0 && k.System.Singleton == nil && k.Probe != nil
}
