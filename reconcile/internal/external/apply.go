package external

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Wrap returns an applier that carries out the external part of a plan, and passes the rest to next:
//
//  1. next records the additions of the plan on the owner, with the finalizer, before it applies the children;
//  2. once next has confirmed that the owner exists, missing and outdated resources are ensured;
//  3. recorded resources that left the plan are removed; the next reconciliation removes them from the record.
//
// For an owner that is being deleted, resources are removed first, unless its plan still includes them. The finalizer remains until all
// are removed.
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
	if err := p.read(); err != nil {
		return a.unreadable(p, &plan, err)
	}
	switch {
	case !object.GetDeletionTimestamp().IsZero():
		return p.finalize(&plan, a.next)
	case plan.Policy == apply.Suspend:
		return a.next.Apply(ctx, object, plan)
	}
	return p.carryOut(&plan, a.next)
}

// unreadable applies the children if the claims cannot be read. The owner's resources are unknown then, so nothing is claimed or removed,
// and the finalizer remains.
func (a *applier) unreadable(p *pass, plan *apply.Plan, err error) apply.Result {
	if value := p.object.GetAnnotations()[p.annotation]; value != "" {
		p.annotate(plan, value)
	}
	plan.Hold = true
	result := a.next.Apply(p.ctx, p.object, *plan)
	result.OwnerErr = errors.Join(result.OwnerErr, err)
	return result
}

// pass is one apply of one owner.
type pass struct {
	*Engine
	ctx    context.Context //nolint:containedctx // a pass lives as long as one call
	object client.Object
	key    types.NamespacedName
	owner  *owner
	record set // resources that the owner has claimed, and the markers of its effects

	removed map[id]bool // claims of the owner with a removed resource
	lost    map[id]bool // resources in the annotation without a claim

	planned []planned
	objects []apply.ObjectResult
	again   time.Duration

	// confirm reports whether the owner exists: a resource created for a deleted owner would leak, and one removed for it may belong to the
	// next owner with the name.
	confirm func(context.Context, client.Object) error
}

// planned is one resource of a plan.
type planned struct {
	id
	kind *kind
	spec any
	once bool
	wait string // the condition that it waits for, empty for none
	err  error  // why it cannot be ensured, known before any call
}

// split separates the external part of the plan.
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
		case len(child.After) > 0:
			errs = append(errs, health.NewError(health.ProgramError, "InvalidPlan",
				fmt.Sprintf("external %s: After orders objects of the cluster, want WaitUntil", one.id), nil))
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

// read reads the owner's resources: its claims, and the markers in its annotation. Every account that may edit the owner can write the
// annotation. Other keys in it are looked up in the claims; a resource without a claim is reported and never removed.
func (p *pass) read() error {
	p.record, p.lost = newSet(), map[id]bool{}
	hints, uid, err := decode(p.object.GetAnnotations()[p.annotation])
	if err != nil || uid != "" && uid != p.object.GetUID() {
		hints = newSet() // it is malformed, or was copied from another owner
	}
	if uid == p.object.GetUID() || provenBy(p.object, p.annotation, p.metadataManager()) {
		p.record.markers = hints.markers
	}
	if p.config.DryRun {
		p.record.things = hints.things
		return nil
	}
	if err := p.registry.load(p.ctx); err != nil {
		return err
	}
	for _, i := range sorted(hints.things) {
		if err := p.lookUp(i); err != nil {
			return err
		}
	}
	p.record.things, p.removed = p.registry.of(p.object.GetUID())
	return nil
}

// lookUp looks up the claim of a resource in the owner's annotation.
func (p *pass) lookUp(i id) error {
	if things, removed := p.registry.of(p.object.GetUID()); things[i] || removed[i] || p.plans(i) || p.forgets() {
		return nil
	}
	mine, others, err := p.registry.owned(p.ctx, i, p.object.GetUID())
	if err != nil || mine || others {
		return err
	}
	if k := p.kinds[i.kind]; k == nil || !k.options.Exclusive || k.options.Permit(p.key, i.key) != nil {
		p.lost[i] = true
		return nil //nolint:nilerr // a key that is not permitted is not claimed
	}
	if err := p.confirm(p.ctx, p.object); err != nil {
		return err
	}
	_, err = p.registry.claim(p.ctx, p.claimOf(i))
	return err
}

// forgets reports whether an annotation of the owner permits to forget resources without a claim. The annotation contains the UID of the
// owner, so that a copy of the owner permits nothing.
func (p *pass) forgets() bool {
	return p.object.GetAnnotations()[p.forgetAnnotation()] == string(p.object.GetUID())
}

func (e *Engine) forgetAnnotation() string { return e.config.Domain + "/" + forgetName }

const forgetName = "forget-external"

func (p *pass) claimOf(i id) Claim {
	return Claim{Kind: i.kind, Key: i.key, Controller: p.config.FieldManager, Owner: p.key, UID: p.object.GetUID()}
}

func (e *Engine) metadataManager() string { return e.config.FieldManager + ":metadata" }

// wanted returns the set to record before any call: resources that may exist and planned ones, without those that were removed.
func (p *pass) wanted() set {
	out := p.record.clone()
	maps.Copy(out.things, p.lost)
	for i := range out.markers {
		if !p.plans(i) {
			delete(out.markers, i)
		}
	}
	for _, one := range p.planned {
		if one.once && p.owner.sent[one.id] {
			out.markers[one.id] = true
		}
		if !one.once && one.err == nil {
			out.things[one.id] = true
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

// refused returns the reason why the owner cannot have a resource.
func (p *pass) refused(k *kind, i id) error {
	if err := k.options.Permit(p.key, i.key); err != nil {
		return p.refusal(k, i, health.InvalidSpec, reasonForbidden, err)
	}
	if p.config.DryRun || p.record.things[i] {
		return nil
	}
	other, err := p.registry.holder(p.ctx, i)
	if err != nil {
		return p.refusal(k, i, health.Infrastructure, reasonUnclaimed, err)
	}
	if blocked, err := p.registry.blocks(p.ctx, other, p.key, p.object.GetUID()); err != nil {
		return p.refusal(k, i, health.Infrastructure, reasonUnclaimed, err)
	} else if blocked {
		return p.claimed(k, other)
	}
	return nil
}

func (*pass) refusal(k *kind, i id, category health.Category, reason string, err error) error {
	call := Call{Kind: i.kind, System: k.options.System(i.key), Verb: VerbEnsure, Key: i.key}
	return &Error{Call: call, Category: category, Reason: reason, Err: err}
}

func (p *pass) claimed(k *kind, other *Claim) error {
	return p.refusal(k, other.id(), health.Conflict, reasonClaimed, &claimedError{*other})
}

// claimedError reports that another owner has the external resource.
type claimedError struct{ by Claim }

func (e *claimedError) Error() string {
	return fmt.Sprintf("controller %s has claimed the key for its owner %s (UID %s); plan another key, or delete ConfigMap %s in the namespace of the operator when that owner no longer exists",
		e.by.Controller, e.by.Owner, e.by.UID, ClaimName(e.by.Kind, e.by.Key))
}

// claimAll stores the claims of the planned resources, and sets the error of those that the owner cannot have.
func (p *pass) claimAll() {
	for n := range p.planned {
		one := &p.planned[n]
		if one.once {
			continue
		}
		if one.err = p.refused(one.kind, one.id); one.err != nil || p.config.DryRun || p.record.things[one.id] {
			continue
		}
		if one.err = p.confirm(p.ctx, p.object); one.err != nil {
			continue
		}
		switch other, err := p.registry.claim(p.ctx, p.claimOf(one.id)); {
		case err != nil:
			one.err = p.refusal(one.kind, one.id, health.Infrastructure, reasonUnclaimed, err)
		case other != nil:
			one.err = p.claimed(one.kind, other)
		default:
			p.record.things[one.id] = true
		}
	}
}

// reportLost reports resources in the annotation without a claim.
func (p *pass) reportLost() {
	for _, i := range sorted(p.lost) {
		err := &Error{
			Call: Call{Kind: i.kind, Verb: VerbRemove, Key: i.key}, Category: health.Conflict, Reason: reasonLost,
			Err: fmt.Errorf("no claim proves that this owner has it, so it is not removed: plan it again, or remove it by hand and set annotation %s to %q",
				p.forgetAnnotation(), p.object.GetUID()),
		}
		p.tell(i, apply.Decision{Verb: verbNone, Reason: apply.ReasonNotPlanned, Err: err}, apply.OutcomeBlocked)
	}
}

// carryOut handles an owner that is not being deleted. It claims resources before it records them on the owner: a crash in between leaves
// a claim, which the next pass finds. A record without a claim would keep an owner that is deleted then, because nothing tells it apart
// from a record whose claim was deleted.
func (p *pass) carryOut(plan *apply.Plan, next pipeline.Applier) apply.Result {
	p.claimAll()
	want := p.wanted()
	value, err := want.encode(p.object.GetUID())
	if err != nil {
		return apply.Result{OwnerErr: invalid("external things of the owner: %s", err)}
	}
	if value != "" {
		p.annotate(plan, value)
	}
	plan.Hold = plan.Hold || len(want.things) > 0
	result := p.next(next, *plan)
	switch {
	case p.config.DryRun:
		p.ensureAll()
		p.removeAll(plan)
	case p.isRecorded(value, len(want.things) > 0):
		p.releaseRemoved()
		p.ensureAll()
		p.removeAll(plan)
		p.reportLost()
	default:
		p.blockAll(result.OwnerErr == nil)
	}
	return p.joined(result)
}

func (p *pass) annotate(plan *apply.Plan, value string) {
	plan.Metadata(metav1.ObjectMeta{Annotations: map[string]string{p.annotation: value}},
		apply.Force(fmt.Sprintf("metadata.annotations[%q]", p.annotation)))
}

// releaseRemoved deletes the claims of removed resources, once the owner's annotation no longer lists them.
func (p *pass) releaseRemoved() {
	for _, i := range sorted(p.removed) {
		if p.plans(i) {
			continue
		}
		if err := p.registry.release(p.ctx, p.claimOf(i)); err != nil {
			p.tell(i, apply.Decision{Verb: verbNone, Reason: apply.ReasonNotPlanned, Err: err}, apply.OutcomeFailed)
		}
	}
}

func (p *pass) next(next pipeline.Applier, plan apply.Plan) apply.Result {
	return next.Apply(p.ctx, p.object, plan)
}

// isRecorded reports whether the owner has the record and, for resources, the finalizer, by the last response of the API server.
func (p *pass) isRecorded(value string, things bool) bool {
	if value == "" {
		return true
	}
	if p.object.GetAnnotations()[p.annotation] != value {
		return false
	}
	return !things || slices.Contains(p.object.GetFinalizers(), p.config.Finalizer)
}

// blockAll reports the planned resources that could not be recorded yet. The engine's result has the error of the owner's write; the engine
// also decides when a refused write is repeated. Without an error the cache does not show the record yet.
func (p *pass) blockAll(written bool) {
	for _, one := range p.planned {
		p.tell(one.id, apply.Decision{Verb: verbNone, Reason: reasonReadFailed}, apply.OutcomeBlocked)
	}
	if written {
		p.requeue(time.Second)
	}
}

// finalize handles an owner that is being deleted.
func (p *pass) finalize(plan *apply.Plan, next pipeline.Applier) apply.Result {
	orphaned := p.orphaned()
	if !orphaned {
		p.removeAll(plan)
		p.reportLost()
		plan.Hold = plan.Hold || len(p.record.things)+len(p.lost) > 0
	}
	result := p.next(next, *plan)
	if result.Finalized && !p.config.DryRun {
		p.releaseAll()
	}
	return p.joined(result)
}

// releaseAll deletes the claims of an owner without finalizer. A remaining claim does not block other owners, because its owner does not
// exist.
func (p *pass) releaseAll() {
	things, removed := p.registry.of(p.object.GetUID())
	maps.Copy(things, removed)
	for _, i := range sorted(things) {
		if err := p.registry.release(p.ctx, p.claimOf(i)); err != nil {
			log.FromContext(p.ctx).Info("cannot delete the claim of an external resource whose owner is gone", "resource", i.String(), "error", err.Error())
		}
	}
}

// joined adds the results of the external resources to the engine's result.
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

// tell adds the result of one resource.
func (p *pass) tell(i id, decision apply.Decision, outcome apply.Outcome) *apply.ObjectResult {
	decision.GVK, decision.Key = gvkOf(i.kind), types.NamespacedName{Name: i.key}
	p.objects = append(p.objects, apply.ObjectResult{Decision: decision, Outcome: outcome})
	return &p.objects[len(p.objects)-1]
}
