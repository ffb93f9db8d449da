package engine

import (
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/deletion"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/gate"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/prune"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
)

// decideAll turns the plan, the world and what is remembered into decisions. It
// only reads.
func decideAll(p *pass.Pass, pr *prune.Prune) {
	if suspended(p) {
		decideSuspended(p)
		return
	}
	gate.Partition(p)
	p.ResolveAll()
	inventory.ResolveOwner(p)
	deletion.Decide(p)
	for _, c := range p.WithOwner() {
		if !gate.Holds(p, c) {
			decide.Child(p, c)
		}
		c.Decided()
	}
	inventory.DecideInventory(p)
	if p.Result.OwnerErr == nil {
		pr.Decide()
	}
}

// carryOut does what was decided.
func carryOut(p *pass.Pass, pr *prune.Prune) {
	if suspended(p) {
		carryOutSuspended(p)
		return
	}
	deletion.CarryOut(p)
	if p.Result.OwnerErr == nil {
		p.Result.OwnerErr = inventory.Grow(p)
	}
	if p.Result.OwnerErr != nil {
		blockChildren(p)
		p.Collect()
		return
	}
	write.Owner(p)
	write.Children(p)
	p.Collect()
	pr.CarryOut()
}

// blockChildren marks what would have been written.
func blockChildren(p *pass.Pass) {
	for _, c := range p.WithOwner() {
		if c.Action != pass.ActionNone {
			c.Result.Outcome, c.Action = apply.OutcomeBlocked, pass.ActionNone
		}
	}
}
