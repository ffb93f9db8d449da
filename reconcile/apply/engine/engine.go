package engine

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// Engine applies plans. Create it with [New]. It is safe for concurrent use; passes over one owner are serialised.
type Engine struct {
	env    *env
	memory *memory.Store
}

// New returns an engine. Reads of c come from a cache, its writes go to the API server. Reads of live always come from the API server,
// like those of a manager's GetAPIReader. The error names the invalid option.
func New(c client.Client, live client.Reader, o apply.Options) (*Engine, error) {
	if c == nil || live == nil {
		return nil, errors.New("apply engine: want a client and a live reader")
	}
	o, err := withDefaults(o)
	if err != nil {
		return nil, fmt.Errorf("apply engine: %w", err)
	}
	return &Engine{memory: memory.NewStore(), env: newEnv(c, live, o)}, nil
}

// Apply reconciles the children of owner with the plan. It decides every
// action first, which only reads and is the result of [Engine.Diff]. Then it
// carries the decisions out in this order:
//
//  1. It deletes the objects that must not exist, in the reverse order of kinds.
//  2. It adds new kinds and namespaces to the inventory in the owner's metadata,
//     with the finalizer if one is needed. If something is written that outlives
//     the owner, it confirms that the owner exists.
//  3. It applies the children that are not as planned, kind by kind.
//  4. It prunes objects that left the plan, and gives contributions back.
//  5. It removes entries that are confirmed to be gone from the inventory.
//
// The metadata of owner is updated in place when step 2 or 5 writes it. Nothing
// is sent when nothing has to change. A failing child does not stop other
// children, except those in a namespace or of a kind that failed.
func (e *Engine) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	p, err := e.env.begin(ctx, owner, &plan, e.memory.Owner(owner))
	if err != nil {
		return apply.Result{OwnerErr: err}
	}
	defer p.end()
	pr := &pruning{pass: p}
	decideAll(p, pr)
	carryOut(p, pr)
	reportRestored(p)
	return p.result
}

// Diff returns the decisions that [Engine.Apply] would carry out now. It changes and remembers nothing. The error reports an invalid owner
// or plan.
func (e *Engine) Diff(ctx context.Context, owner client.Object, plan apply.Plan, o DiffOptions) (apply.Decisions, error) {
	p, err := e.env.begin(ctx, owner, &plan, e.memory.CopyOf(owner))
	if err != nil {
		return apply.Decisions{}, fmt.Errorf("diff: %w", err)
	}
	defer p.end()
	p.dry = true
	pr := &pruning{pass: p}
	decideAll(p, pr)
	if p.result.OwnerErr != nil {
		return apply.Decisions{}, fmt.Errorf("diff: %w", p.result.OwnerErr)
	}
	reportRestored(p)
	return decisions(p, pr, o), nil
}

// Confirm returns nil if this process has written the owner to the API server or read it there. Otherwise it reads the owner live, because
// a cache may still show a deleted owner, and objects that outlive their owner must not be created for it. The error is a NotFound, or a
// Conflict for an owner that is being deleted.
func (e *Engine) Confirm(ctx context.Context, owner client.Object) error {
	p, err := e.env.begin(ctx, owner, &apply.Plan{}, e.memory.Owner(owner))
	if err != nil {
		return err
	}
	defer p.end()
	return confirmOwner(p)
}

// Retry ends the delays that follow refused requests for the owner: the next [Engine.Apply] repeats them. It keeps the delays between
// recreations, which delete objects.
func (e *Engine) Retry(owner types.UID) { e.memory.Retry(owner) }

// Forget releases the memory of a deleted owner.
func (e *Engine) Forget(owner types.UID) {
	e.memory.Forget(owner)
	e.env.orphaned.Delete(owner)
}

// decideAll makes all decisions of the pass. It only reads.
func decideAll(p *pass, pr *pruning) {
	if suspended(p) {
		decideSuspended(p)
		return
	}
	partitionWaiting(p)
	p.resolveAll()
	resolveOwner(p)
	decideDeletions(p)
	for _, c := range p.withOwner() {
		if !holdsBack(p, c) {
			decideChild(p, c)
		}
		c.decided()
	}
	decideRestored(p)
	decideInventory(p)
	if p.result.OwnerErr == nil {
		pr.decide()
	}
}

// carryOut carries out the decisions.
func carryOut(p *pass, pr *pruning) {
	if suspended(p) {
		carryOutSuspended(p)
		return
	}
	carryOutDeletions(p)
	if p.result.OwnerErr == nil {
		p.result.OwnerErr = growInventory(p)
	}
	if p.result.OwnerErr != nil {
		blockChildren(p)
		p.collect()
		return
	}
	writeOwner(p)
	writeChildren(p)
	p.collect()
	pr.carryOut()
}

// blockChildren marks the children that would have been written.
func blockChildren(p *pass) {
	for _, c := range p.withOwner() {
		if c.action != actionNone {
			c.result.Outcome, c.action = apply.OutcomeBlocked, actionNone
		}
	}
}
