package pass

import (
	"fmt"
	"slices"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

const (
	ActionNone Action = iota
	ActionApply
	ActionCreate
	ActionMigrate
	ActionRemove
	// ActionMark updates what makes the object a child, and nothing else.
	ActionMark
)

// Free gives the object that was read back for reuse.
func (c *Child) Free() {
	if c.Kind != nil && c.Live != nil {
		c.Kind.Release(c.Live)
		c.Live, c.Observed = nil, fieldset.Observation{}
	}
}

func (c *Child) describe() string {
	if c.Kind == nil {
		return fmt.Sprintf("child of type %T", c.Planned.Object)
	}
	return c.ID.String()
}

// Fail ends the child with an error that was met while deciding.
func (c *Child) Fail(outcome apply.Outcome, reason apply.Reason, err error) {
	c.Result.Outcome, c.Result.Reason, c.Result.Err = outcome, reason, err
	c.Action = ActionNone
}

// Failed ends the child with an error that was met while carrying out.
func (c *Child) Failed(outcome apply.Outcome, err error) { c.Fail(outcome, c.Result.Reason, err) }

// Decided sets the verb that follows from the action.
func (c *Child) Decided() {
	switch {
	case c.Action == ActionNone:
		c.Result.Verb = apply.VerbNone
	case c.Live == nil && c.UID == "":
		c.Result.Verb = apply.VerbCreate
	default:
		c.Result.Verb = apply.VerbUpdate
	}
	c.Result.UID, c.Result.RequeueAfter = c.UID, c.Requeue
}

// Requeue asks for another pass after a time at the latest. Zero asks for none.
func (p *Pass) Requeue(after time.Duration) {
	if r := &p.Result; after > 0 && (r.RequeueAfter == 0 || after < r.RequeueAfter) {
		r.RequeueAfter = after
	}
}

// Collect adds the results of the children, in the order of the plan.
func (p *Pass) Collect() {
	p.Result.Objects = slices.Grow(p.Result.Objects, len(p.Children))
	for _, c := range p.WithOwner() {
		if c.Memory != nil && c.Result.Err == nil {
			c.Result.UID = c.Memory.UID()
			c.Result.ResourceVersion = c.Memory.Version()
			c.reportOverridden(p.Env.Options.ContestInterval)
		}
		p.Result.Objects = append(p.Result.Objects, c.Result)
		p.Requeue(c.Requeue)
	}
}

// reportOverridden adds the planned fields that something else has given other
// values. It may end without an event, so the child is looked at again.
func (c *Child) reportOverridden(again time.Duration) {
	if c.Result.Overridden = c.Memory.Overridden(); c.Result.Overridden != nil && c.Requeue == 0 {
		c.Requeue = again
	}
}

// Partial reports whether the owner has a part of an object under a field
// manager of its own, which is given back in the end.
func Partial(m apply.Mode) bool { return m == apply.Contribute || m == apply.Shared }

// WithOwner are the children, what is planned of the owner first.
func (p *Pass) WithOwner() []*Child {
	if p.OwnerChild == nil {
		return p.Children
	}
	return append([]*Child{p.OwnerChild}, p.Children...)
}
