package engine

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// partitionWaiting moves waiting deletions out of the plan of the pass. Until its condition is met, such an object is a child that stays
// unchanged, so that it is not pruned. An owner that is being deleted keeps its finalizer while anything waits; this orders the deletion.
// The caller's plan is not modified.
func partitionWaiting(p *pass) {
	if !planWaits(p.plan) {
		return
	}
	p.plan.Hold = p.plan.Hold || p.finalize
	var now []apply.Deletion
	children := p.plan.Children[:len(p.plan.Children):len(p.plan.Children)]
	for _, d := range p.plan.Deletes {
		if d.WaitsUntil == "" {
			now = append(now, d)
			continue
		}
		kept := apply.Plan{}
		kept.Keep(d.Object)
		for _, c := range kept.Children {
			c.WaitsUntil = d.WaitsUntil
			children = append(children, c)
		}
	}
	p.plan.Children, p.plan.Deletes = children, now
}

// holdsBack decides a waiting child and reports whether it waits. It reads from the cache whether the child exists.
func holdsBack(p *pass, c *child) bool {
	if c.planned.WaitsUntil == "" || c.result.Outcome != "" {
		return false
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
	c.result.Outcome, c.result.Reason, c.result.WaitsUntil = apply.OutcomeWaiting, apply.ReasonWaiting, c.planned.WaitsUntil
	return true
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

// planWaits reports whether the plan has anything that waits.
func planWaits(plan *apply.Plan) bool {
	return plan.Owner != nil && plan.Owner.WaitsUntil != "" ||
		slices.ContainsFunc(plan.Children, func(c apply.Child) bool { return c.WaitsUntil != "" }) ||
		slices.ContainsFunc(plan.Deletes, func(d apply.Deletion) bool { return d.WaitsUntil != "" })
}
