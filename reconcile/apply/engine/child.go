package engine

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// child is one child during a pass.
type child struct {
	planned *apply.Child
	kind    *intent.Kind
	id      applyset.ObjectID
	hash    uint64
	memory  *memory.Child
	// member reports that the child carries the part-of label.
	member bool
	// reach reports that an owner reference from owner to child is possible.
	reach bool
	// manager is the field manager it is written under.
	manager string
	rules   []intent.Rule
	// live is the object as known, nil if it does not exist.
	live client.Object
	// renewed reports that this pass has looked for defaults of an earlier plan.
	renewed bool
	// answer is the object that the API server has returned for the last write, nil for none.
	answer client.Object
	// recall is what is remembered of the child and matters for that object,
	// observed what was compared of it.
	recall   memory.Recall
	observed fieldset.Observation
	// UID pins the object that is written.
	uid     types.UID
	content map[string]any
	action  action
	force   bool
	// fresh reports that live was read from the API server in this pass.
	fresh bool
	// sentOnce are the fields that are sent once and that the object has.
	sentOnce []sentOnce
	// contested are the fields that are left out of the content, as others
	// insist on them.
	contested []apply.ContestedField
	// repairs is how often the object was repaired lately for this intent, with this pass; 0 if that was not counted yet.
	repairs int
	// leftSeeds are the paths of seeds that are left out of the content, as the
	// server has said that they are others'.
	leftSeeds []string
	// unwanted are the fields that the object has and that the plan wants
	// absent.
	unwanted []fieldset.Place
	// lostAbsent are the paths of those of the contested fields that the plan
	// wants absent.
	lostAbsent []string
	result     apply.ObjectResult
	requeue    time.Duration
}

// action is what has to be sent for a child.
type action int

// sentOnce is a field that is sent once and that the object has.
type sentOnce struct {
	path fieldset.Path
	want any
}

const (
	actionNone action = iota
	actionApply
	actionCreate
	actionMigrate
	actionRemove
	// actionMark updates what makes the object a child, and nothing else.
	actionMark
)

// free gives the object that was read back for reuse.
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

// fail ends the child with an error that was met while deciding.
func (c *child) fail(outcome apply.Outcome, reason apply.Reason, err error) {
	c.result.Outcome, c.result.Reason, c.result.Err = outcome, reason, err
	c.action = actionNone
}

// failed ends the child with an error that was met while carrying out.
func (c *child) failed(outcome apply.Outcome, err error) { c.fail(outcome, c.result.Reason, err) }

// decided sets the verb that follows from the action.
func (c *child) decided() {
	switch {
	case c.action == actionNone:
		c.result.Verb = apply.VerbNone
	case c.live == nil && c.uid == "":
		c.result.Verb = apply.VerbCreate
	default:
		c.result.Verb = apply.VerbUpdate
	}
	c.result.UID, c.result.RequeueAfter = c.uid, c.requeue
}

// requeue asks for another pass after a time at the latest. Zero asks for none.
func (p *pass) requeue(after time.Duration) {
	if r := &p.result; after > 0 && (r.RequeueAfter == 0 || after < r.RequeueAfter) {
		r.RequeueAfter = after
	}
}

// collect adds the results of the children, in the order of the plan.
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

// reportOverridden adds the planned fields that something else has given other
// values. It may end without an event, so the child is looked at again.
func (c *child) reportOverridden(again time.Duration) {
	if c.result.Overridden = c.memory.Overridden(); c.result.Overridden != nil && c.requeue == 0 {
		c.requeue = again
	}
}

// isPartial reports whether the owner has a part of an object under a field
// manager of its own, which is given back in the end.
func isPartial(m apply.Mode) bool { return m == apply.Contribute || m == apply.Shared }

// withOwner are the children, what is planned of the owner first.
func (p *pass) withOwner() []*child {
	if p.ownerChild == nil {
		return p.children
	}
	return append([]*child{p.ownerChild}, p.children...)
}
