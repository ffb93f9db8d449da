package engine

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// decideAll turns the plan, the world and what is remembered into decisions. It
// only reads.
func decideAll(p *pass, pr *pruning) {
	if suspended(p) {
		decideSuspended(p)
		return
	}
	partitionWaiting(p)
	p.resolveAll()
	resolveOwner(p)
	decideDeletions(p)
	for _, c := range p.withOwner() {
		if !holdsBack(p, c) {
			decideChild(p, c)
		}
		c.decided()
	}
	decideInventory(p)
	if p.result.OwnerErr == nil {
		pr.decide()
	}
}

// carryOut does what was decided.
func carryOut(p *pass, pr *pruning) {
	if suspended(p) {
		carryOutSuspended(p)
		return
	}
	carryOutDeletions(p)
	if p.result.OwnerErr == nil {
		p.result.OwnerErr = growInventory(p)
	}
	if p.result.OwnerErr != nil {
		blockChildren(p)
		p.collect()
		return
	}
	writeOwner(p)
	writeChildren(p)
	p.collect()
	pr.carryOut()
}

// blockChildren marks what would have been written.
func blockChildren(p *pass) {
	for _, c := range p.withOwner() {
		if c.action != actionNone {
			c.result.Outcome, c.action = apply.OutcomeBlocked, actionNone
		}
	}
}
