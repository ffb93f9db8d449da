package engine

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/kinds"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// decideAll turns the plan, the world and what is remembered into decisions. It
// only reads.
func (p *pass) decideAll(pr *pruner) {
	if p.suspended() {
		p.decideSuspended()
		return
	}
	p.resolveAll()
	p.resolveOwner()
	p.decideDeletions()
	for _, c := range p.withOwner() {
		p.decideChild(c)
		c.decided()
	}
	p.decideInventory()
	if p.result.OwnerErr == nil {
		pr.decidePrune()
	}
}

// carryOut does what was decided.
func (p *pass) carryOut(pr *pruner) {
	if p.suspended() {
		p.carryOutSuspended()
		return
	}
	p.deletePlanned()
	if p.result.OwnerErr == nil {
		p.result.OwnerErr = p.grow()
	}
	if p.result.OwnerErr != nil {
		p.blockChildren()
		p.collect()
		return
	}
	p.writeOwner()
	p.write()
	p.collect()
	pr.prune()
}

// blockChildren marks what would have been written.
func (p *pass) blockChildren() {
	for _, c := range p.withOwner() {
		if c.action != actionNone {
			c.result.Outcome, c.action = apply.Blocked, actionNone
		}
	}
}

// pass is one [Engine.Apply].
type pass struct {
	ctx       context.Context //nolint:containedctx // lives as long as the call
	engine    *env
	owner     client.Object
	ownerKind *kinds.Kind
	group     apply.Group // the owner, if it is a group
	id        string      // the value of the part-of label
	keys      *applyset.Keys
	plan      *apply.Plan
	finalize  bool
	dry       bool // not carried out
	memory    *memory.Owner
	now       time.Time
	children  []*planned
	// self is what is planned of the metadata of the owner, nil for nothing.
	self    *planned
	scratch *[]planned // what children point into, given back at the end
	// identity is the hash of which objects are planned, and how, and of
	// whether the owner is held.
	identity uint64
	// incomplete is why the planned objects are not all known, unknown the
	// same for single kinds.
	incomplete error
	unknown    map[schema.GroupKind]error
	// What was decided besides the children: the deletions, and the inventory
	// to record before anything is written, nil if it stays.
	deletions []*plannedDeletion
	wanted    *applyset.Inventory
	// allowPrune is what the owner's annotation of that name shall say.
	allowPrune string
	result     apply.Result
}

// planned is one child during a pass.
type planned struct {
	child  *apply.Child
	kind   *kinds.Kind
	id     applyset.ObjectID
	hash   uint64
	memory *memory.Child
	// reach reports that an owner reference from owner to child is possible.
	reach bool
	// manager is the field manager it is written under.
	manager string
	rules   []intent.Rule
	// live is the object as known, nil if it does not exist; cached says that
	// it is shared with the cache.
	live client.Object
	// uid pins the object that is written.
	uid     types.UID
	content map[string]any
	action  action
	force   bool
	// fresh reports that live was read from the API server in this pass.
	fresh bool
	// settled are the fields that are sent once, that the object has and
	// that are ours.
	settled []settledField
	// contested are the fields that are left out of the content, as others
	// insist on them.
	contested []apply.ContestedField
	// left are the paths of seeds that are left out of the content, as the
	// server has said that they are others'.
	left []string
	// unwanted are the fields that the object has and that the plan wants
	// absent.
	unwanted []managedfields.Place
	// lostAbsent are the paths of those of the contested fields that the plan
	// wants absent.
	lostAbsent []string
	result     apply.ObjectResult
	requeue    time.Duration
}

// action is what has to be sent for a child.
type action int

const (
	actionNone action = iota
	actionApply
	actionCreate
	actionMigrate
	actionRemove
)

// member reports whether the child carries the part-of label.
func (c *planned) member() bool { return c.child.Mode == apply.Own || c.child.Mode == apply.Once }

// begin locks the memory of the owner; end releases it.
func (e *env) begin(ctx context.Context, owner client.Object, plan *apply.Plan, memory *memory.Owner) (*pass, error) {
	if owner.GetUID() == "" {
		return nil, fmt.Errorf("owner %s has no UID: it must exist before its children", owner.GetName())
	}
	group, k, err := e.ownerKind(owner)
	if err != nil {
		return nil, fmt.Errorf("owner %s: %w", owner.GetName(), err)
	}
	p := &pass{
		ctx: ctx, engine: e, owner: owner, ownerKind: k, group: group, plan: plan,
		finalize: owner.GetDeletionTimestamp() != nil,
		memory:   memory, now: e.opts.Clock.Now(),
	}
	p.memory.Mu.Lock()
	p.chooseSet()
	p.allowPrune = owner.GetAnnotations()[p.keys.AllowPrune]
	p.memory.Pass++
	return p, nil
}

func (e *env) ownerKind(owner client.Object) (apply.Group, *kinds.Kind, error) {
	if group, ok := owner.(apply.Group); ok {
		return group, groupKind(group), nil
	}
	k, err := e.kinds.OfObject(owner)
	return nil, k, err
}

func (p *pass) end() {
	for _, c := range p.children {
		c.free()
	}
	if p.scratch != nil {
		clear(*p.scratch)
		p.engine.scratch.Put(p.scratch)
	}
	p.memory.Mu.Unlock()
}

// free gives the object that was read back for reuse.
func (c *planned) free() {
	if c.kind != nil && c.live != nil {
		c.kind.Release(c.live)
		c.live = nil
	}
}

// room returns n zero children for one pass, from an earlier pass if there are.
func (e *env) room(n int) *[]planned {
	room, ok := e.scratch.Get().(*[]planned)
	if !ok {
		room = &[]planned{}
	}
	if cap(*room) < n {
		*room = make([]planned, n)
	}
	*room = (*room)[:n]
	return room
}

// plan resolves the children: kind, name, hash, memory.
func (p *pass) resolveAll() {
	p.scratch = p.engine.room(len(p.plan.Children))
	all := *p.scratch
	if p.plan.Hold {
		p.identity = 1
	}
	p.children = make([]*planned, len(all))
	for i := range p.plan.Children {
		c := &all[i]
		p.children[i] = c
		c.child = &p.plan.Children[i]
		if err := p.resolve(c); err != nil {
			c.fail(apply.Failed, apply.ReasonInvalid, err)
			p.unresolved(c, fmt.Errorf("%s: %w", c.describe(), err))
		}
	}
	for gk, cause := range p.plan.Unknown {
		p.doubtKind(gk, cause)
	}
}

// unresolved notes that the plan has a child that is not known: of its kind
// nothing is pruned, and of no kind if not even that is known.
func (p *pass) unresolved(c *planned, err error) {
	gvk := p.engine.kinds.GVK(c.child)
	if gvk.Empty() {
		p.incomplete = err
		return
	}
	c.result.GVK, c.result.Key = gvk, kinds.Key(c.child)
	p.doubtKind(gvk.GroupKind(), err)
}

// doubtKind notes that it is not known what is wanted of a kind.
func (p *pass) doubtKind(gk schema.GroupKind, cause error) {
	if p.unknown == nil {
		p.unknown = map[schema.GroupKind]error{}
	}
	if p.unknown[gk] == nil {
		p.unknown[gk] = cause
		p.identity += p.engine.hasher.Text(gk.String())
	}
}

func (p *pass) resolve(c *planned) error {
	k, err := p.engine.kinds.Of(c.child)
	if err != nil {
		return err
	}
	c.kind = k
	c.result.GVK = k.GVK
	c.id = applyset.ObjectID{GroupKind: k.GVK.GroupKind(), Key: kinds.Key(c.child)}
	if k.Namespaced && c.id.Key.Namespace == "" {
		c.id.Key.Namespace = p.owner.GetNamespace()
	}
	c.result.Key = c.id.Key
	switch {
	case p.isOwner(c.id):
		return errPlannedOwner
	case c.id.Key.Name == "":
		return noName(c.child)
	case k.Namespaced && c.id.Key.Namespace == "":
		return errNoNamespace
	case !k.Namespaced && c.id.Key.Namespace != "":
		return errNamespace
	}
	c.reach = c.member() && p.reaches(c.id.Key.Namespace)
	if p.finalize && !p.plan.Hold && !c.reach && c.member() && !c.child.Existing {
		return errLeftBehind
	}
	c.manager = p.engine.opts.FieldManager
	if partial(c.child.Mode) {
		c.manager = p.contributor()
	}
	c.memory = p.memory.Child(c.id)
	if c.memory.Pass == p.memory.Pass {
		return errTwice
	}
	if c.memory.Mode != c.child.Mode || c.memory.GVK != k.GVK {
		c.memory.Becomes(c.child.Mode, k.GVK)
	}
	if c.memory.Last+1 != p.memory.Pass {
		c.memory.Since = p.memory.Pass
	}
	c.memory.Pass, c.memory.Last = p.memory.Pass, p.memory.Pass
	c.hash = p.engine.hasher.Child(c.child)
	p.identity += identity(p.engine.hasher, c)
	return nil
}

// reaches reports whether garbage collection follows an owner reference from the
// owner to a child: within a namespace, and from cluster-scoped owners.
func (p *pass) reaches(namespace string) bool {
	if p.group != nil {
		return false
	}
	return !p.ownerKind.Namespaced || (namespace != "" && namespace == p.owner.GetNamespace())
}

func identity(h *intent.Hasher, c *planned) uint64 {
	s := h.Start()
	writeIdentity(s, c)
	return h.Finish(s)
}

func writeIdentity(s *maphash.Hash, c *planned) {
	content.WriteString(s, c.id.GroupKind.Group)
	content.WriteString(s, c.id.GroupKind.Kind)
	content.WriteString(s, c.id.Key.Namespace)
	content.WriteString(s, c.id.Key.Name)
	content.WriteUint(s, uint64(c.child.Mode)) //nolint:gosec // a small enumeration
}

func (c *planned) describe() string {
	if c.kind == nil {
		return fmt.Sprintf("child of type %T", c.child.Object)
	}
	return c.id.String()
}

// fail ends the child with an error that was met while deciding.
func (c *planned) fail(outcome apply.Outcome, reason apply.Reason, err error) {
	c.result.Outcome, c.result.Reason, c.result.Err = outcome, reason, err
	c.action = actionNone
}

// failed ends the child with an error that was met while carrying out.
func (c *planned) failed(outcome apply.Outcome, err error) { c.fail(outcome, c.result.Reason, err) }

// decided sets the verb that follows from the action.
func (c *planned) decided() {
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
			c.result.UID = c.memory.UID
			c.result.ResourceVersion = c.memory.Version
		}
		p.result.Objects = append(p.result.Objects, c.result)
		p.requeue(c.requeue)
	}
}
