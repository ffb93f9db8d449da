package pass

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/kinds"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/words"
)

// SentOnce is a field that is sent once and that the object has.
type SentOnce struct {
	Path apply.Path
	Want any
}

// Child is one child during a pass.
type Child struct {
	Planned *apply.Child
	Kind    *kinds.Kind
	ID      applyset.ObjectID
	Hash    uint64
	Memory  *memory.Child
	// Reach reports that an owner reference from owner to child is possible.
	Reach bool
	// Manager is the field manager it is written under.
	Manager string
	Rules   []intent.Rule
	// Live is the object as known, nil if it does not exist; cached says that
	// it is shared with the cache.
	Live client.Object
	// UID pins the object that is written.
	UID     types.UID
	Content map[string]any
	Action  Action
	Force   bool
	// Fresh reports that live was read from the API server in this pass.
	Fresh bool
	// SentOnce are the fields that are sent once, that the object has and
	// that are ours.
	SentOnce []SentOnce
	// Contested are the fields that are left out of the content, as others
	// insist on them.
	Contested []apply.ContestedField
	// LeftSeeds are the paths of seeds that are left out of the content, as the
	// server has said that they are others'.
	LeftSeeds []string
	// Unwanted are the fields that the object has and that the plan wants
	// absent.
	Unwanted []managedfields.Place
	// LostAbsent are the paths of those of the contested fields that the plan
	// wants absent.
	LostAbsent []string
	Result     apply.ObjectResult
	Requeue    time.Duration
}

// Action is what has to be sent for a child.
type Action int

const (
	ActionNone Action = iota
	ActionApply
	ActionCreate
	ActionMigrate
	ActionRemove
)

// Member reports whether the child carries the part-of label.
func (c *Child) Member() bool { return c.Planned.Mode == apply.Own || c.Planned.Mode == apply.Once }

// Free gives the object that was read back for reuse.
func (c *Child) Free() {
	if c.Kind != nil && c.Live != nil {
		c.Kind.Release(c.Live)
		c.Live = nil
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
		c.Result.Verb = words.VerbNone
	case c.Live == nil && c.UID == "":
		c.Result.Verb = words.VerbCreate
	default:
		c.Result.Verb = words.VerbUpdate
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
		}
		p.Result.Objects = append(p.Result.Objects, c.Result)
		p.Requeue(c.Requeue)
	}
}

// Partial reports whether the owner has a part of an object under a field
// manager of its own, which is given back in the end.
func Partial(m apply.Mode) bool { return m == apply.Contribute || m == apply.Shared }
