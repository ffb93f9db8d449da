package engine

import (
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// child is one child during a pass: what is planned, what was observed, what is decided, and what execution adds.
type child struct {
	decider
	// memory is what the engine remembers of the child between passes. Decisions see it as [memory.Recall].
	memory *memory.Child
	// answer is the response to the last write, nil for none.
	answer client.Object
	// leftSeeds are the paths of seeds that are left out of the content because the API server reported another owner.
	leftSeeds []string
	// renewed reports that this pass has searched for defaults of an earlier plan.
	renewed bool
}

// decideChild observes a child in the cache and decides about it, unless it is decided already.
func decideChild(p *pass, c *child) {
	if c.result.Outcome != "" {
		return
	}
	observeCached(p, c)
	settle(p, c)
}

// decideChildAgain decides the child again after a request has shown that the object is not as observed. The earlier proof no longer holds.
func decideChildAgain(p *pass, c *child) {
	verb, fields, unobserved := c.result.Verb, c.result.Fields, c.result.Unobserved
	c.leftSeeds, c.counted = nil, c.repairs
	c.memory.ForgetProof()
	observeLive(p, c)
	settle(p, c)
	c.result.Fields, c.result.Unobserved = append(fields, c.result.Fields...), unobserved
	if c.action == actionNone && c.result.Err == nil {
		c.result.Verb = verb // the planned action turned out to be unnecessary
	}
}

// settle decides the observed child. It observes more as long as the decision needs it: after the cache the live object, and for either of
// them the live metadata. Then the memory learns from the decision.
func settle(p *pass, c *child) {
	for {
		c.childDecision = decide(&c.observation)
		switch c.needs {
		case needLiveObject:
			observeLive(p, c)
		case needLiveMetadata:
			observeMetadata(p, c)
		case needNothing:
			logForeign(p, c)
			noteRestored(p, c)
			remember(p, c)
			return
		}
	}
}

// remember applies what the decision has for the memory of the child.
func remember(p *pass, c *child) {
	c.memory.Remember(&c.childDecision.remember, p.now)
	c.childDecision.remember = memory.Changes{}
}

// logForeign logs the fields of other managers that stay after the first apply, because an operator that migrates to the engine would
// otherwise keep fields of its old version unnoticed.
func logForeign(p *pass, c *child) {
	if len(c.foreign) == 0 {
		return
	}
	byManager := map[string][]string{}
	for _, f := range c.foreign {
		byManager[f.Manager] = append(byManager[f.Manager], f.Path)
	}
	for manager, fields := range byManager {
		log.FromContext(p.ctx).Info("fields that are not planned stay, because another manager wrote them; "+
			"if it is an earlier version of this operator, name it in Options.FormerManagers",
			"child", c.id.String(), "manager", manager, "fields", fields)
	}
}

// free releases the object that was read for reuse.
func (c *child) free() {
	if c.kind != nil && c.live != nil {
		c.kind.Release(c.live)
		c.live, c.observed = nil, fieldset.Observation{}
	}
}

func (c *child) describe() string {
	if c.kind == nil {
		return fmt.Sprintf("child of type %T", c.planned.Object)
	}
	return c.id.String()
}

// failed ends the child with an error from the execution.
func (c *child) failed(outcome apply.Outcome, err error) { c.fail(outcome, c.result.Reason, err) }

// requeue requests another pass after at most this time. Zero requests none.
func (p *pass) requeue(after time.Duration) {
	if r := &p.result; after > 0 && (r.RequeueAfter == 0 || after < r.RequeueAfter) {
		r.RequeueAfter = after
	}
}

// collect appends the results of the children in the order of the plan.
func (p *pass) collect() {
	p.result.Objects = slices.Grow(p.result.Objects, len(p.children))
	for _, c := range p.withOwner() {
		if c.memory != nil && c.result.Err == nil {
			c.result.UID = c.memory.UID()
			c.result.ResourceVersion = c.memory.Version()
			c.reportOverridden(p.env.options.ContestInterval)
		}
		p.result.Objects = append(p.result.Objects, c.result)
		p.requeue(c.requeue)
	}
}

// reportOverridden adds the planned fields that the API server stored with other values. No event may announce the end of that, so it
// requeues.
func (c *child) reportOverridden(again time.Duration) {
	if c.result.Overridden = c.memory.Overridden(); c.result.Overridden != nil && c.requeue == 0 {
		c.requeue = again
	}
}

// isPartial reports whether the owner has a part of an object under a field manager of its own. The part is given back in the end.
func isPartial(m apply.Mode) bool { return m == apply.Contribute || m == apply.Shared }

// withOwner returns the children, preceded by the planned metadata of the owner.
func (p *pass) withOwner() []*child {
	if p.ownerChild == nil {
		return p.children
	}
	return append([]*child{p.ownerChild}, p.children...)
}
