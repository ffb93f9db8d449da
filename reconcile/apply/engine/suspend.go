package engine

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// suspended reports whether the children stay as they are, whatever is
// planned. A group has no finalizer to look after.
func suspended(p *pass.Pass) bool { return p.Plan.Policy == apply.Suspend && !p.Finalize }

// decideSuspended decides whether the finalizer has to be put on or taken off.
// The children and the rest of the inventory are left alone.
func decideSuspended(p *pass.Pass) {
	if p.Group != nil {
		return
	}
	recorded := inventory.Recorded(p)
	if recorded.Finalizer != p.Plan.Hold {
		wanted := *recorded
		wanted.Finalizer = p.Plan.Hold
		inventory.Want(p, &wanted)
	}
}

func carryOutSuspended(p *pass.Pass) {
	if p.Wanted == nil || p.Result.OwnerErr != nil {
		return
	}
	p.Memory.Metadata.Covered = false // the next plan may need the finalizer again
	if err := inventory.Record(p, p.Wanted); err != nil {
		p.Result.OwnerErr = fmt.Errorf("record the finalizer: %w", err)
	}
}
