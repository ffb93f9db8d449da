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
	// manager is the field manager of the child's applies.
	manager string
	rules   []intent.Rule
	// live is the object from the cache or the API server, nil if it does not exist.
	live client.Object
	// renewed reports that this pass has searched for defaults of an earlier plan.
	renewed bool
	// answer is the response to the last write, nil for none.
	answer client.Object
	// recall is the memory of the child that applies to the live object; observed is the compared state of that object.
	recall   memory.Recall
	observed fieldset.Observation
	// uid is the UID precondition of writes.
	uid     types.UID
	content map[string]any
	action  action
	force   bool
	// fresh reports that live was read from the API server in this pass.
	fresh bool
	// sentOnce are the existing fields that are sent only once.
	sentOnce []sentOnce
	// contested are the fields that are left out of the content because other managers insist on them.
	contested []apply.ContestedField
	// repairs is the number of recent repairs of the object for this intent, including this pass; 0 if not counted yet.
	repairs int
	// leftSeeds are the paths of seeds that are left out of the content because the API server reported another owner.
	leftSeeds []string
	// unwanted are the existing fields that the plan wants absent.
	unwanted []fieldset.Place
	// lostAbsent are the paths of contested fields that the plan wants absent.
	lostAbsent []string
	result     apply.ObjectResult
	requeue    time.Duration
}

// action is the request that a child needs.
type action int

// sentOnce is an existing field that is sent only once.
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
	// actionMark updates only the owner reference and the label of the child.
	actionMark
)

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

// fail ends the child with an error from the decision.
func (c *child) fail(outcome apply.Outcome, reason apply.Reason, err error) {
	c.result.Outcome, c.result.Reason, c.result.Err = outcome, reason, err
	c.action = actionNone
}

// failed ends the child with an error from the execution.
func (c *child) failed(outcome apply.Outcome, err error) { c.fail(outcome, c.result.Reason, err) }

// decided sets the verb of the action.
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
