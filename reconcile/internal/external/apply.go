package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Wrap returns an applier that carries out what a plan has outside of the cluster, and gives the rest to next:
//
//  1. what the plan adds is recorded on the owner by next, with the finalizer, before it applies the children;
//  2. what is missing or not up to date is ensured, once next has confirmed that the owner is there;
//  3. what is recorded and no longer planned is removed, and is taken off the record by the pass after.
//
// Of an owner that is being deleted things are removed first, unless its plan still names them, and the finalizer stays until all are.
func (e *Engine) Wrap(next pipeline.Applier) pipeline.Applier {
	return &applier{Engine: e, next: next}
}

type applier struct {
	*Engine
	next pipeline.Applier
}

// Confirm implements [pipeline.Applier].
func (a *applier) Confirm(ctx context.Context, object client.Object) error {
	return a.next.Confirm(ctx, object)
}

// Forget implements [pipeline.Applier].
func (a *applier) Forget(uid types.UID) {
	a.Engine.Forget(uid)
	a.next.Forget(uid)
}

// Apply implements [pipeline.Applier].
func (a *applier) Apply(ctx context.Context, object client.Object, plan apply.Plan) apply.Result {
	p := &pass{Engine: a.Engine, ctx: ctx, object: object, key: client.ObjectKeyFromObject(object), confirm: a.next.Confirm}
	if err := p.split(&plan); err != nil {
		return apply.Result{OwnerErr: err}
	}
	p.owner = a.of(p.key, object.GetUID())
	p.record = p.recorded()
	switch {
	case !object.GetDeletionTimestamp().IsZero():
		return p.finalize(&plan, a.next)
	case plan.Policy == apply.Suspend:
		return a.next.Apply(ctx, object, plan)
	}
	return p.carryOut(&plan, a.next)
}

// pass is one apply of one owner.
type pass struct {
	*Engine
	ctx    context.Context //nolint:containedctx // a pass lives as long as one call
	object client.Object
	key    types.NamespacedName
	owner  *owner
	record set // what may exist: recorded on the owner, in an earlier pass or by this process

	planned []planned
	objects []apply.ObjectResult
	again   time.Duration

	// confirm reports whether the owner is there: a thing that is made for one that is gone stays for ever, and one that is removed for it may be
	// that of the next owner of the name.
	confirm func(context.Context, client.Object) error
}

// planned is one thing of a plan.
type planned struct {
	id
	kind *kind
	spec any
	once bool
	wait string // until when it is held back, empty for not at all
	err  error  // why it cannot be ensured, found before any call
}

// split takes what is outside of the cluster out of the plan.
func (p *pass) split(plan *apply.Plan) error {
	children := make([]apply.Child, 0, len(plan.Children))
	var errs []error
	seen := map[id]bool{}
	for i := range plan.Children {
		child := &plan.Children[i]
		o, ok := child.Object.(*Object)
		if !ok {
			children = append(children, *child)
			continue
		}
		if o == nil {
			errs = append(errs, errors.New("external object: want one made by a Kind, got nil"))
			continue
		}
		one := planned{id: id{o.Kind, o.Name}, kind: p.kinds[o.Kind], spec: o.spec, once: child.Mode == apply.Once, wait: child.WaitsUntil}
		switch {
		case one.kind == nil:
			errs = append(errs, &NotDeclaredError{Kind: o.Kind})
		case o.Name == "" || len(o.Name) > maxKey || !utf8.ValidString(o.Name):
			errs = append(errs, invalid("external %s: want a key of 1 to %d bytes in UTF-8, got %.40q", o.Kind, maxKey, o.Name))
		case seen[one.id]:
			errs = append(errs, invalid("external %s is planned twice", one.id))
		}
		seen[one.id] = true
		p.planned = append(p.planned, one)
	}
	plan.Children = children
	slices.SortStableFunc(p.planned, func(a, b planned) int { return compareIDs(a.id, b.id) })
	return errors.Join(errs...)
}

func invalid(format string, args ...any) error {
	return health.NewError(health.InvalidSpec, "InvalidExternalObject", fmt.Sprintf(format, args...), nil)
}

// recorded is what may exist of the owner's things. What its annotation names counts only when our manager has written it, for kinds that
// are declared; what this process has recorded counts whatever has become of the annotation.
func (p *pass) recorded() set {
	out := p.owner.known.clone()
	value := p.object.GetAnnotations()[p.annotation]
	if value == "" || !provenBy(p.object, p.annotation, p.metadataManager()) {
		return out
	}
	found, err := decode(value)
	if err != nil {
		return out // nobody but our manager can have written it; it is written anew
	}
	out.add(found)
	return out
}

func (e *Engine) metadataManager() string { return e.config.FieldManager + ":metadata" }

// wanted is what has to be on the record before anything is done: what may exist and what is planned, without what is confirmed to be
// gone. Planned things that cannot be the owner's get their error.
func (p *pass) wanted() set {
	out := p.record.clone()
	for i := range p.owner.gone {
		delete(out.things, i)
	}
	for i := range out.markers {
		if !p.plans(i) {
			delete(out.markers, i)
		}
	}
	for n := range p.planned {
		one := &p.planned[n]
		if one.once {
			if p.owner.sent[one.id] {
				out.markers[one.id] = true
			}
			continue
		}
		if one.err = p.refused(one.kind, one.id); one.err == nil {
			out.things[one.id] = true
			delete(p.owner.gone, one.id)
		}
	}
	for i := range p.owner.sent {
		if !p.plans(i) {
			delete(p.owner.sent, i)
		}
	}
	return out
}

func (p *pass) plans(i id) bool {
	return slices.ContainsFunc(p.planned, func(one planned) bool { return one.id == i })
}

// refused returns why the owner cannot have a thing.
func (p *pass) refused(k *kind, i id) error {
	call := Call{Kind: i.kind, System: k.options.System(i.key), Verb: VerbEnsure, Key: i.key}
	if err := k.options.Permit(p.key, i.key); err != nil {
		return &Error{Call: call, Category: health.InvalidSpec, Reason: reasonForbidden, Err: err}
	}
	if !p.claim(i, p.object.GetUID()) {
		return &Error{Call: call, Category: health.Conflict, Reason: reasonClaimed, Err: errClaimed}
	}
	return nil
}

var errClaimed = errors.New("another owner has it already; a key belongs to one owner")

// carryOut is the pass of an owner that stays.
func (p *pass) carryOut(plan *apply.Plan, next pipeline.Applier) apply.Result {
	want := p.wanted()
	value, err := want.encode()
	if err != nil {
		return apply.Result{OwnerErr: invalid("external things of the owner: %s", err)}
	}
	if value != "" {
		plan.Metadata(metav1.ObjectMeta{Annotations: map[string]string{p.annotation: value}},
			apply.Force(fmt.Sprintf("metadata.annotations[%q]", p.annotation)))
	}
	plan.Hold = plan.Hold || len(want.things) > 0
	result := p.next(next, *plan)
	switch {
	case p.config.DryRun:
		p.ensureAll()
		p.removeAll(plan, want)
	case p.isRecorded(value, len(want.things) > 0):
		p.owner.known = want.clone()
		for i := range p.owner.gone {
			p.unclaim(i, p.object.GetUID())
			delete(p.owner.gone, i)
		}
		p.ensureAll()
		p.removeAll(plan, want)
	default:
		p.blockAll()
	}
	return p.joined(result)
}

func (p *pass) next(next pipeline.Applier, plan apply.Plan) apply.Result {
	return next.Apply(p.ctx, p.object, plan)
}

// isRecorded reports whether the owner has the record and, for things, the finalizer, as far as this process was answered.
func (p *pass) isRecorded(value string, things bool) bool {
	if value == "" {
		return true
	}
	if p.object.GetAnnotations()[p.annotation] != value {
		return false
	}
	return !things || slices.Contains(p.object.GetFinalizers(), p.config.Finalizer)
}

// blockAll reports the planned things that could not be recorded yet. The error of the owner's write is in the result of the engine.
func (p *pass) blockAll() {
	for _, one := range p.planned {
		p.tell(one.id, apply.Decision{Verb: verbNone, Reason: reasonReadFailed}, apply.OutcomeBlocked)
	}
	p.requeue(time.Second)
}

// finalize is the pass of an owner that is being deleted.
func (p *pass) finalize(plan *apply.Plan, next pipeline.Applier) apply.Result {
	if !p.orphaned() {
		p.removeAll(plan, p.record)
		for i := range p.record.things {
			if !p.owner.gone[i] {
				plan.Hold = true
			}
		}
	}
	return p.joined(p.next(next, *plan))
}

// joined adds what became of the things outside to the result of the engine.
func (p *pass) joined(result apply.Result) apply.Result {
	result.Objects = append(result.Objects, p.objects...)
	if p.again > 0 && (result.RequeueAfter == 0 || p.again < result.RequeueAfter) {
		result.RequeueAfter = p.again
	}
	return result
}

func (p *pass) requeue(after time.Duration) {
	if p.again == 0 || after < p.again {
		p.again = after
	}
}

// tell adds what became of one thing to the result.
func (p *pass) tell(i id, decision apply.Decision, outcome apply.Outcome) *apply.ObjectResult {
	decision.GVK, decision.Key = gvkOf(i.kind), types.NamespacedName{Name: i.key}
	p.objects = append(p.objects, apply.ObjectResult{Decision: decision, Outcome: outcome})
	return &p.objects[len(p.objects)-1]
}
