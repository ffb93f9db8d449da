package gate

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// Partition takes out of the plan of the pass what waits to be deleted. Until then it is a child that stays as it is, so that it is
// not pruned either. An owner that is being deleted is kept as long as anything waits: its finalizer is what makes the order of a
// deletion. The plan that the caller has given is not changed.
func Partition(p *pass.Pass) {
	if !waits(p.Plan) {
		return
	}
	p.Plan.Hold = p.Plan.Hold || p.Finalize
	var now []apply.Deletion
	children := p.Plan.Children[:len(p.Plan.Children):len(p.Plan.Children)]
	for _, d := range p.Plan.Deletes {
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
	p.Plan.Children, p.Plan.Deletes = children, now
}

// Holds reports whether the child waits, and decides so. It reads from the cache whether the child exists.
func Holds(p *pass.Pass, c *pass.Child) bool {
	if c.Planned.WaitsUntil == "" || c.Result.Outcome != "" {
		return false
	}
	if c != p.OwnerChild {
		if err := read(p, c); err != nil {
			c.Fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
			return true
		}
		if c.Planned.Existing && c.Live == nil {
			c.Result.Outcome, c.Result.Reason = apply.OutcomeUnchanged, apply.ReasonMissing // nothing is left to wait for
			return true
		}
	}
	c.Result.Outcome, c.Result.Reason, c.Result.WaitsUntil = apply.OutcomeWaiting, apply.ReasonWaiting, c.Planned.WaitsUntil
	return true
}

func read(p *pass.Pass, c *pass.Child) error {
	o := c.Kind.NewObject()
	err := p.Env.Client.Get(p.Ctx, c.ID.Key, o, p.Env.Cached...)
	if err != nil {
		c.Kind.Release(o)
		return client.IgnoreNotFound(err)
	}
	c.Live, c.UID = o, o.GetUID()
	return nil
}

// waits reports whether anything of the plan waits.
func waits(plan *apply.Plan) bool {
	return plan.Owner != nil && plan.Owner.WaitsUntil != "" ||
		slices.ContainsFunc(plan.Children, func(c apply.Child) bool { return c.WaitsUntil != "" }) ||
		slices.ContainsFunc(plan.Deletes, func(d apply.Deletion) bool { return d.WaitsUntil != "" })
}
