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

// Engine applies plans. Create it with [New]; it is safe for concurrent use,
// and passes for one owner wait for each other.
type Engine struct {
	env    *env
	memory *memory.Store
}

// New returns an engine. Reads of c come from a cache, its writes go to the API
// server; live reads always come from the API server, like those of a
// manager's GetAPIReader. The error names the option that is wrong.
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

// Apply makes the children of owner as the plan says. It first decides what to
// do with each object, which only reads and is what [Engine.Diff] returns, and
// carries that out in this order:
//
//  1. what must not exist is deleted, in the reverse order of kinds;
//  2. the inventory in the owner's metadata grows by new kinds and namespaces,
//     with the finalizer if one is needed, and the owner is confirmed to be there
//     if something is written that outlives it;
//  3. children that are not right already are applied, kind by kind;
//  4. what was applied before and is no longer planned is pruned, and
//     contributions are given back;
//  5. the inventory shrinks by what is confirmed to be gone.
//
// The metadata of owner is updated in place when step 2 or 5 writes it. Nothing
// is sent when nothing has to change. One failing child does not stop others,
// except those inside a namespace or of a kind that failed.
func (e *Engine) Apply(ctx context.Context, owner client.Object, plan apply.Plan) apply.Result {
	p, err := e.env.begin(ctx, owner, &plan, e.memory.Owner(owner))
	if err != nil {
		return apply.Result{OwnerErr: err}
	}
	defer p.end()
	pr := &pruning{pass: p}
	decideAll(p, pr)
	carryOut(p, pr)
	return p.result
}

// Diff returns what [Engine.Apply] would do now. Nothing is changed, and
// nothing is remembered. The error is that of an owner or a plan that is not
// valid.
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
	return decisions(p, pr, o), nil
}

// Confirm returns nil when the API server has the owner, as far as this process
// has written or read it there. Otherwise it reads it: what outlives an owner must
// not be made for one that a cache still shows and that is gone. The error is a
// NotFound, or a Conflict for an owner that is being deleted.
func (e *Engine) Confirm(ctx context.Context, owner client.Object) error {
	p, err := e.env.begin(ctx, owner, &apply.Plan{}, e.memory.Owner(owner))
	if err != nil {
		return err
	}
	defer p.end()
	return confirmOwner(p)
}

// Forget releases what is remembered for an owner that is gone.
func (e *Engine) Forget(owner types.UID) {
	e.memory.Forget(owner)
	e.env.orphaned.Delete(owner)
}

// decideAll turns the plan, the world and what is remembered into decisions. It
// only reads.
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
	decideInventory(p)
	if p.result.OwnerErr == nil {
		pr.decide()
	}
}

// carryOut does what was decided.
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

// blockChildren marks what would have been written.
func blockChildren(p *pass) {
	for _, c := range p.withOwner() {
		if c.action != actionNone {
			c.result.Outcome, c.action = apply.OutcomeBlocked, actionNone
		}
	}
}
