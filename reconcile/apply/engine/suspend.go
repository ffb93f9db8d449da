package engine

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// suspended reports whether the children stay unchanged whatever the plan contains. A group has no finalizer.
func suspended(p *pass) bool { return p.plan.Policy == apply.Suspend && !p.finalize }

// decideSuspended decides whether the finalizer has to be added or removed. The children and the rest of the inventory are left alone.
func decideSuspended(p *pass) {
	if p.group != nil {
		return
	}
	recorded := recordedInventory(p)
	if recorded.Finalizer != p.plan.Hold {
		wanted := *recorded
		wanted.Finalizer = p.plan.Hold
		wantInventory(p, &wanted)
	}
}

func carryOutSuspended(p *pass) {
	if p.wanted == nil || p.result.OwnerErr != nil {
		return
	}
	p.memory.Metadata.Covered = false // the next plan may need the finalizer again
	if err := recordInventory(p, p.wanted); err != nil {
		p.result.OwnerErr = fmt.Errorf("record the finalizer: %w", err)
	}
}
