package baseline

import (
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// Known is the information from the runs without faults.
type Known struct {
	System    description.Prepared
	Probe     *cluster.Cluster      // step A in steady state
	Pair      *description.Prepared // the system with a second owner, if that does not affect the first
	PairEnd   cluster.State         // end state of that system, nil if its passes are never concurrent
	Baselines []*Baseline
}

// Disturbs reports whether the system has cases in which others disturb a cluster in steady state.
func (k *Known) Disturbs() bool {
	return k.System.Horizon == 0 && len(k.Baselines) > 0 && k.System.Singleton == nil && k.Probe != nil
}
