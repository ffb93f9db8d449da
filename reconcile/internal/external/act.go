package external

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Decisions of the engine.
const (
	verbNone         = apply.VerbNone
	reasonReadFailed = apply.ReasonReadFailed
)

// ensureAll ensures the planned resources that are not up to date. A failure does not stop the others.
func (p *pass) ensureAll() {
	for i := range p.planned {
		one := &p.planned[i]
		switch {
		case one.err != nil:
			p.tell(one.id, apply.Decision{Verb: verbNone, Reason: apply.ReasonNotOwned, Err: one.err}, apply.OutcomeFailed)
		case one.wait != "":
			p.tell(one.id, apply.Decision{Verb: verbNone, Reason: apply.ReasonWaiting, WaitsUntil: one.wait}, apply.OutcomeWaiting)
		case one.once:
			p.effect(one)
		default:
			p.ensure(one)
		}
	}
}

// ensure ensures one resource.
func (p *pass) ensure(one *planned) {
	found, err := p.observe(p.ctx, one.kind, p.key, one.key)
	if err != nil {
		p.failed(one.id, apply.Decision{Verb: verbNone, Reason: reasonReadFailed}, err)
		return
	}
	if !found.missing && one.kind.upToDate(one.spec, found.value) {
		p.tell(one.id, apply.Decision{Verb: verbNone, Reason: apply.ReasonUpToDate}, apply.OutcomeUnchanged)
		delete(p.owner.ensured, one.id)
		return
	}
	decision, outcome := apply.Decision{Verb: apply.VerbUpdate, Reason: apply.ReasonDiffers}, apply.OutcomeUpdated
	if found.missing {
		decision, outcome = apply.Decision{Verb: apply.VerbCreate, Reason: apply.ReasonMissing}, apply.OutcomeCreated
	}
	if p.send(one, decision, outcome) {
		p.observeSoon(one.id)
	}
}

// observeSoon requeues the owner to observe the result of Ensure. There may be no event, because a stream may be broken. The first delay
// is zero; it grows while the system does not report the resource as up to date.
func (p *pass) observeSoon(i id) {
	after := p.owner.ensured[i]
	p.owner.ensured[i] = min(max(2*after, time.Second), maxObserve)
	p.requeue(max(after, time.Nanosecond))
}

// maxObserve is the maximum delay before a resource that is repeatedly ensured is observed.
const maxObserve = 5 * time.Minute

// effect performs a one-shot effect, unless its marker exists.
func (p *pass) effect(one *planned) {
	if p.record.markers[one.id] || p.owner.sent[one.id] {
		p.tell(one.id, apply.Decision{Verb: verbNone, Reason: apply.ReasonUpToDate}, apply.OutcomeUnchanged)
		return
	}
	if p.send(one, apply.Decision{Verb: apply.VerbCreate, Reason: apply.ReasonMissing}, apply.OutcomeCreated) {
		p.owner.sent[one.id] = true
		p.requeue(time.Nanosecond) // to store the marker
	}
}

// send calls the system, and reports whether it responded.
func (p *pass) send(one *planned, decision apply.Decision, outcome apply.Outcome) bool {
	if p.config.DryRun {
		p.tell(one.id, decision, outcome)
		return false
	}
	if err := p.confirm(p.ctx, p.object); err != nil {
		p.failed(one.id, decision, err)
		return false
	}
	if err := p.confirmClaim(one); err != nil {
		p.failed(one.id, decision, err)
		return false
	}
	var answer any
	err := p.call(p.ctx, one.kind, p.key, Call{Verb: VerbEnsure, Key: one.key}, func(ctx context.Context) (err error) {
		answer, err = one.kind.ensure(ctx, one.key, one.spec)
		return err
	})
	if errors.Is(err, ErrNotFound) { // a dependency of the resource is missing
		err = one.kind.failed(Call{Kind: one.kind.name, Verb: VerbEnsure, Key: one.key}, err)
	}
	if err != nil {
		p.failed(one.id, decision, err)
		return false
	}
	result := p.tell(one.id, decision, outcome)
	if result.Answer, err = raw(answer); err != nil {
		result.Err, result.Outcome = err, apply.OutcomeFailed
	}
	return true
}

// confirmClaim reads the claim of a resource before a call changes it. An administrator may have deleted the claim, and another owner may
// have the key since. A claim that no owner has is stored again.
func (p *pass) confirmClaim(one *planned) error {
	if one.once {
		return nil // an effect has no claim
	}
	mine, _, err := p.registry.owned(p.ctx, one.id, p.object.GetUID())
	if err != nil {
		return p.refusal(one.kind, one.id, health.Infrastructure, reasonUnclaimed, err)
	}
	if mine {
		return nil
	}
	delete(p.record.things, one.id)
	switch other, err := p.registry.claim(p.ctx, p.claimOf(one.id)); {
	case err != nil:
		return p.refusal(one.kind, one.id, health.Infrastructure, reasonUnclaimed, err)
	case other != nil:
		return p.claimed(one.kind, other)
	}
	p.record.things[one.id] = true
	return nil
}

// removeAll removes the owner's resources that are not planned.
func (p *pass) removeAll(plan *apply.Plan) {
	for _, i := range sorted(p.record.things) {
		if p.plans(i) {
			continue
		}
		if k := p.kinds[i.kind]; k != nil && p.mayRemove(plan, k, i) {
			p.removeOne(k, i)
		} else if k == nil {
			p.tell(i, apply.Decision{
				Verb: verbNone, Reason: apply.ReasonNotPlanned, Err: &NotDeclaredError{Kind: i.kind},
			}, apply.OutcomeBlocked)
		}
	}
}

// mayRemove reports whether to remove a resource that is not planned. It is kept if the plan is incomplete.
func (p *pass) mayRemove(plan *apply.Plan, k *kind, i id) bool {
	gvk := gvkOf(i.kind)
	_, unknown := plan.Unknown[gvk.GroupKind()]
	if finalizing := !p.object.GetDeletionTimestamp().IsZero(); !finalizing &&
		(plan.PruneBlocked != nil || unknown || slices.Contains(plan.KeptKinds, gvk)) {
		return false
	}
	if p.config.DryRun {
		return k.options.Permit(p.key, i.key) == nil
	}
	if k.options.Permit(p.key, i.key) != nil { // the key belongs to another owner: release the claim, keep the resource
		p.storeRemoved(i)
		return false
	}
	mine, others, err := p.registry.owned(p.ctx, i, p.object.GetUID())
	switch {
	case err != nil:
		p.failed(i, apply.Decision{Verb: verbNone, Reason: reasonReadFailed}, err)
	case others:
		delete(p.record.things, i)
		p.requeue(time.Nanosecond) // to remove it from the annotation
	case !mine:
		delete(p.record.things, i)
		p.lost[i] = true
	}
	return mine
}

func (p *pass) removeOne(k *kind, i id) {
	decision := apply.Decision{Verb: apply.VerbPrune, Reason: apply.ReasonNotPlanned}
	if p.config.DryRun {
		p.tell(i, decision, apply.OutcomePruned)
		return
	}
	if err := p.confirm(p.ctx, p.object); err != nil {
		p.failed(i, decision, err)
		return
	}
	err := p.call(p.ctx, k, p.key, Call{Verb: VerbRemove, Key: i.key}, func(ctx context.Context) error {
		return k.remove(ctx, i.key)
	})
	if errors.Is(err, ErrSystemGone) {
		log.FromContext(p.ctx).Info("forgot an external resource, as its system no longer exists", "resource", i.String(), "reason", err.Error())
		err = nil
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		p.failed(i, decision, err)
		return
	}
	if p.storeRemoved(i) {
		p.tell(i, decision, apply.OutcomePruned)
	}
}

// storeRemoved records that the owner no longer has a resource, and reports whether that succeeded.
func (p *pass) storeRemoved(i id) bool {
	if err := p.registry.removed(p.ctx, p.claimOf(i)); err != nil {
		p.failed(i, apply.Decision{Verb: apply.VerbPrune, Reason: apply.ReasonNotPlanned}, err)
		return false
	}
	delete(p.record.things, i)
	p.requeue(time.Nanosecond) // to remove it from the annotation and delete the claim
	return true
}

// failed reports an error. A call that only waits for its turn is not an error.
func (p *pass) failed(i id, decision apply.Decision, err error) {
	var limited *limitedError
	if errors.As(err, &limited) {
		p.tell(i, decision, apply.OutcomeBlocked)
		p.requeue(limited.after)
		return
	}
	decision.Err = err
	p.tell(i, decision, apply.OutcomeFailed)
}

// orphaned reports whether the deletion of the owner orphans its resources: its finalizers require it, or did when they were last read,
// or the apply engine has recorded it.
func (p *pass) orphaned() bool {
	if p.sawOrphan(p.object) {
		return true
	}
	notes := p.object.GetAnnotations()
	return notes[p.config.Domain+"/"+orphanNote] == orphanValue || notes[strings.TrimSuffix(p.annotation, annotationName)+orphanNote] == orphanValue
}

// Annotation of the apply engine: the deletion of the owner orphans its children.
const (
	orphanNote  = "orphan"
	orphanValue = "true"
)

// AnnounceOwner informs the engine of a change of an owner in its cache. It matters for an owner whose deletion orphans its resources,
// which is visible only briefly. It is cheap.
func (e *Engine) AnnounceOwner(object client.Object) {
	if !object.GetDeletionTimestamp().IsZero() {
		e.sawOrphan(object)
	}
}

func (e *Engine) sawOrphan(object client.Object) bool {
	found := slices.Contains(object.GetFinalizers(), metav1.FinalizerOrphanDependents)
	e.mu.Lock()
	defer e.mu.Unlock()
	if found {
		e.orphans[object.GetUID()] = true
	}
	return e.orphans[object.GetUID()]
}
