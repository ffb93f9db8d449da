package engine

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// partitionWaiting moves deletions that wait, or that come after other objects, out of the plan of the pass. Until it is carried out, the
// object of such a deletion is a child that stays unchanged, so that it is not pruned. An owner that is being deleted keeps its finalizer
// while anything waits; this orders the deletion. The caller's plan is not modified.
func partitionWaiting(p *pass) {
	moves := slices.ContainsFunc(p.plan.Deletes, movable) && !p.orphans()
	p.plan.Hold = p.plan.Hold || p.finalize && planWaits(p.plan, moves)
	if !moves {
		return
	}
	var now []apply.Deletion
	children := p.plan.Children[:len(p.plan.Children):len(p.plan.Children)]
	p.moved = map[int]*apply.Deletion{}
	for i := range p.plan.Deletes {
		d := &p.plan.Deletes[i]
		if !movable(*d) {
			now = append(now, *d)
			continue
		}
		kept := apply.Plan{}
		kept.Keep(d.Object)
		for _, c := range kept.Children {
			p.moved[len(children)] = d
			c.WaitsUntil, c.After = d.WaitsUntil, d.After
			children = append(children, c)
		}
	}
	p.plan.Children, p.plan.Deletes = children, now
}

// movable reports whether a deletion may have to wait.
func movable(d apply.Deletion) bool { return d.WaitsUntil != "" || len(d.After) > 0 }

// planWaits reports whether the plan has anything whose condition is not met.
func planWaits(plan *apply.Plan, deletes bool) bool {
	return plan.Owner != nil && plan.Owner.WaitsUntil != "" ||
		slices.ContainsFunc(plan.Children, func(c apply.Child) bool { return c.WaitsUntil != "" }) ||
		deletes && slices.ContainsFunc(plan.Deletes, func(d apply.Deletion) bool { return d.WaitsUntil != "" })
}

// holdsBack decides a waiting child and reports whether it waits. It reads from the cache whether the child exists. The objects that the
// child comes after are decided first. A deletion that no longer waits is decided as such and is no child any more.
func holdsBack(p *pass, c *child) bool {
	if c.result.Outcome != "" {
		return false
	}
	what := c.planned.WaitsUntil
	if what == "" {
		what = p.order.decideFirst(p, c)
	}
	if what == "" {
		return p.order.decideDeletion(p, c)
	}
	if c != p.ownerChild {
		if err := readExisting(p, c); err != nil {
			c.fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
			return true
		}
		if c.planned.Existing && c.live == nil {
			c.result.Outcome, c.result.Reason = apply.OutcomeUnchanged, apply.ReasonMissing // nothing is left to wait for
			return true
		}
	}
	p.waits(c, what)
	return true
}

// waits ends a child that waits.
func (p *pass) waits(c *child, what string) {
	c.action = actionNone
	c.result.Verb, c.result.Fields = apply.VerbNone, nil
	c.result.Outcome, c.result.Reason, c.result.WaitsUntil = apply.OutcomeWaiting, apply.ReasonWaiting, what
	p.plan.Hold = p.plan.Hold || p.finalize
}

func readExisting(p *pass, c *child) error {
	o := c.kind.NewObject()
	err := p.env.client.Get(p.ctx, c.id.Key, o, p.env.cached...)
	if err != nil {
		c.kind.Release(o)
		return client.IgnoreNotFound(err)
	}
	c.live, c.uid = o, o.GetUID()
	return nil
}
