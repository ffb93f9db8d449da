package engine

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// suspended reports whether the children stay as they are, whatever is
// planned. A group has no finalizer to look after.
func (p *pass) suspended() bool { return p.plan.Policy == apply.Suspend && !p.finalize }

// decideSuspended decides whether the finalizer has to be put on or taken off.
// The children and the rest of the inventory are left alone.
func (p *pass) decideSuspended() {
	if p.group != nil {
		return
	}
	recorded := p.recorded()
	if recorded.Finalizer != p.plan.Hold {
		wanted := *recorded
		wanted.Finalizer = p.plan.Hold
		p.wants(&wanted)
	}
}

func (p *pass) carryOutSuspended() {
	if p.wanted == nil || p.result.OwnerErr != nil {
		return
	}
	p.memory.Metadata.Covered = false // the next plan may need the finalizer again
	if err := p.record(p.wanted); err != nil {
		p.result.OwnerErr = fmt.Errorf("record the finalizer: %w", err)
	}
}
