package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// pruneObservation is everything that the decision about what left the plan depends on. [decidePrune] does not change it.
type pruneObservation struct {
	*facts
	plan *apply.Plan
	// children and deletions are decided already.
	children  []*child
	deletions []*deletion
	// orphaned reports that the owner is being deleted and its children stay.
	orphaned bool
	// members are the proven children that were found; unproven are those that may have lost the proof.
	members, unproven []memberObject
	parts             []observedPart
	// unknown are the kinds that may not be pruned, with the reason. unresolved are those of them whose desired state is unknown.
	unknown, unresolved map[schema.GroupKind]error
	// unreadable is the error of an inventory with entries that cannot be parsed.
	unreadable error
	// existed is the number of planned members that existed when this process first made the plan, at the time since; seen are the objects
	// that had left the plan then. restarted reports that it was the first plan of the process.
	existed   int
	since     time.Time
	seen      map[types.UID]struct{}
	restarted bool
	// explained reports that a change of the owner or of its inputs explains the prune.
	explained bool
	// waited is the time since which the deletion of the owner waits for another deletion, zero if it does not.
	waited time.Time
}

// observedPart is an object in which the owner has a part that is not planned, or is planned in another mode.
type observedPart struct {
	id  applyset.ObjectID
	gvk schema.GroupVersionKind
	// planned reports that the plan names the object; hasPart that it may also have fields under the manager of this owner alone.
	planned, hasPart bool
	// undeclared reports that the engine may not read the kind.
	undeclared bool
	// found is the object that was read, nil if it does not exist; looked is the time of the read, and err its error.
	found  *metav1.PartialObjectMetadata
	looked time.Time
	err    error
	memory *memory.Child
}

// pruneDecision is what a pass does with what left the plan.
type pruneDecision struct {
	// found are the members, with the unproven ones that the owner waits for or may delete.
	found []memberObject
	// leaving are all members that left the plan, also those that are kept or already being deleted.
	leaving []memberObject
	// surplus are the members to delete; releases are the contributions to give back.
	surplus  []*surplusMember
	releases []*plannedRelease
	// announced reports that the prune is large and explained. The owner records that until the prune is complete.
	announced bool
	// guarded reports that a part of the prune is kept.
	guarded bool
	// blocked is why something is kept, nil for nothing.
	blocked      *apply.PruneBlockedError
	requeueAfter time.Duration
	// open are kinds that stay in the inventory.
	open []schema.GroupKind
	// waiting is the new value of waited.
	waiting time.Time
}

// pruneDecider is an observation with the decision that is made of it.
type pruneDecider struct {
	pruneObservation
	pruneDecision
}

func newPruneDecider(o *pruneObservation) *pruneDecider {
	return &pruneDecider{*o, pruneDecision{found: slices.Clip(o.members), waiting: o.waited}}
}

// decidePrune decides which objects are pruned and which contributions are given back. It is a function of the observation: it reads, writes
// and remembers nothing.
func decidePrune(o *pruneObservation) pruneDecision {
	d := newPruneDecider(o)
	d.leaving = d.notPlanned()
	d.decideReleases()
	if d.admitUnproven() {
		d.leaving = d.notPlanned()
	}
	surplus := d.leaveUnknown(append(slices.Clone(d.leaving), d.releasedMembers()...))
	surplus = d.keepHeldReleases(surplus, apply.VerbRelease) // an object that stays needs no guard
	if d.unreadable != nil {
		d.block(&apply.PruneBlockedError{Reason: apply.ReasonUnknown, Cause: d.unreadable})
	}
	existed := existedBefore(d.found, d.existed, d.restarted) + d.sharedChildren()
	d.announced = d.exceedsLimits(surplus, existed) && !d.finalize
	surplus = d.keepHeldReleases(d.keepReplaced(d.guard(surplus, existed)), apply.VerbPrune)
	d.announced = d.announced && !d.guarded
	for _, m := range surplus {
		d.surplus = append(d.surplus, d.decideMember(m))
	}
	return d.pruneDecision
}

// stillWaitedFor decides, after the deletions of a deleted owner, which members it still waits for.
func stillWaitedFor(o *pruneObservation, releases []*plannedRelease) (members []memberObject, d pruneDecision) {
	again := newPruneDecider(o)
	again.releases = releases
	again.admitUnproven()
	members = again.leaveUnknown(again.notPlanned())
	return members, again.pruneDecision
}

// block adds a reason why something is kept.
func (d *pruneDecider) block(reason *apply.PruneBlockedError) {
	d.blocked = joinBlocked(d.blocked, reason)
}

// requeue requests another pass after at most this time.
func (d *pruneDecider) requeue(after time.Duration) {
	if d.requeueAfter == 0 || after < d.requeueAfter {
		d.requeueAfter = after
	}
}

// notPlanned returns the members that left the plan and that this owner may delete.
func (d *pruneDecider) notPlanned() []memberObject {
	if d.orphaned {
		return nil
	}
	var out, near []memberObject
	ordered := orderedIDs(d.found)
	for _, m := range d.found {
		planned := m.planned && (!d.finalize || d.plan.Hold) // without a hold nothing outlives the owner
		switch {
		case planned || d.keepsKind(d.plan, m.id.GroupKind) || m.optedOut:
		case d.finalize && m.reached && !ordered[m.id]:
			near = append(near, m)
		default:
			out = append(out, m)
		}
	}
	out = d.addReached(out, near)
	slices.SortStableFunc(out, func(a, b memberObject) int { return intent.Rank(b.id.GroupKind) - intent.Rank(a.id.GroupKind) })
	return out
}

// decideReleases decides which contributions are given back.
func (d *pruneDecider) decideReleases() {
	for i := range d.parts {
		part := &d.parts[i]
		r := &plannedRelease{id: part.id, memory: part.memory, found: part.found, looked: part.looked, kept: part.hasPart}
		r.result.GVK, r.result.Key = part.gvk, part.id.Key
		r.result.Verb, r.result.Outcome = apply.VerbNone, apply.OutcomeUnchanged
		switch {
		case part.planned:
		case d.keepsKind(d.plan, part.id.GroupKind), part.undeclared, errors.Is(part.err, errBudget):
			r.kept = true
		case part.err != nil:
			r.result.Reason, r.result.Outcome, r.result.Err = apply.ReasonReadFailed, apply.OutcomeFailed, fmt.Errorf("give back the contribution: %w", part.err)
		default:
			d.decideRelease(r)
		}
		d.releases = append(d.releases, r)
	}
}

// decideRelease decides about a contribution to an object that was read.
func (d *pruneDecider) decideRelease(r *plannedRelease) {
	r.result.Reason = apply.ReasonMissing
	if r.found == nil {
		return
	}
	r.result.UID = r.found.UID
	if r.unproven = !r.has(d.contributor) && isUnprovenPart(r.found) && !d.optedOut(r.found); r.unproven {
		r.kept = true
		r.result.HoldsData = d.holdsData(r.id.GroupKind)
		return
	}
	if r.has(d.contributor) {
		r.result.Verb, r.result.Reason = apply.VerbRelease, apply.ReasonNotPlanned
	}
	if r.result.Verb == apply.VerbRelease && d.deletedWithPart(r.found) {
		r.result.Verb, r.result.HoldsData = apply.VerbPrune, d.holdsData(r.id.GroupKind)
	}
	if r.result.Verb != apply.VerbNone && d.comesFirst(r.id) != nil {
		r.keep()
		r.later = true
		d.requeue(confirmAfter)
	}
}

// admitUnproven adds the unproven objects to the members if the owner's annotation permits that. Otherwise it keeps and reports them. An
// object that is being deleted is a member, so that the owner waits for it. It reports whether it added any.
func (d *pruneDecider) admitUnproven() bool {
	before := len(d.found)
	var open []memberObject
	names := []string{"delete", string(d.owner.GetUID())}
	for _, r := range d.releases {
		if r.unproven {
			open, names = append(open, memberObject{id: r.id, uid: r.result.UID}), append(names, string(r.result.UID))
		}
	}
	parts := len(open)
	for _, m := range d.unproven {
		if m.deleting || m.deleted {
			m.deleting = true
			d.found = append(d.found, m)
			continue
		}
		open, names = append(open, m), append(names, string(m.uid))
	}
	if len(open) == 0 {
		return len(d.found) > before
	}
	slices.Sort(names[2:])
	blocked := &apply.PruneBlockedError{Reason: apply.ReasonUnproven, Annotation: d.keys.AdoptRestored, Token: token(names...)}
	if d.permits(blocked.Token) {
		for _, m := range open[parts:] {
			m.unknown = false // the administrator has seen it
			d.found = append(d.found, m)
		}
		for _, r := range d.releases {
			if r.unproven {
				r.kept, r.result.Verb, r.result.Reason = false, apply.VerbPrune, apply.ReasonNotPlanned
			}
		}
		return len(d.found) > before
	}
	for _, m := range open {
		blocked.Objects = append(blocked.Objects, m.id.String())
		d.open = append(d.open, m.id.GroupKind)
	}
	slices.Sort(blocked.Objects)
	d.block(blocked)
	d.guarded = true
	return len(d.found) > before
}

// leaveUnknown removes the members of unknown kinds from the surplus and reports what is kept.
func (d *pruneDecider) leaveUnknown(surplus []memberObject) []memberObject {
	kept := map[schema.GroupKind][]string{}
	surplus = slices.DeleteFunc(surplus, func(m memberObject) bool {
		gk := m.id.GroupKind
		if _, unknown := d.unknown[gk]; !unknown {
			return false
		}
		kept[gk] = append(kept[gk], m.id.String())
		return true
	})
	for _, gk := range sortedKinds(d.unknown) {
		if len(kept[gk]) == 0 && d.unresolved[gk] != nil {
			continue // nothing exists that could be kept
		}
		slices.Sort(kept[gk])
		d.block(&apply.PruneBlockedError{Reason: apply.ReasonUnknown, Objects: kept[gk], Cause: d.unknown[gk]})
	}
	return surplus
}

// releasedMembers returns the objects whose parts are to be given back, and the objects that are deleted with them, so that they are
// guarded like children.
func (d *pruneDecider) releasedMembers() []memberObject {
	var out []memberObject
	for _, r := range d.releases {
		if r.result.Verb != apply.VerbNone {
			out = append(out, memberObject{
				id: r.id, gvk: r.result.GVK, uid: r.result.UID, holdsData: d.holdsData(r.id.GroupKind), memory: r.memory,
			})
		}
	}
	return out
}

// keepHeldReleases keeps the released or pruned parts that the guard has removed from the surplus. It removes the remaining parts from the
// surplus, because they are not children.
func (d *pruneDecider) keepHeldReleases(surplus []memberObject, verb apply.Verb) []memberObject {
	for _, r := range d.releases {
		if r.result.Verb != verb {
			continue
		}
		rest := slices.DeleteFunc(surplus, func(m memberObject) bool { return m.id == r.id })
		if len(rest) == len(surplus) {
			r.keep()
		}
		surplus = rest
	}
	return surplus
}

// sharedChildren returns the number of shared objects that are planned or deleted.
func (d *pruneDecider) sharedChildren() int {
	n := 0
	for _, c := range d.children {
		if c.memory != nil && c.planned.Mode == apply.Shared {
			n++
		}
	}
	for _, r := range d.releases {
		if r.result.Verb == apply.VerbPrune {
			n++
		}
	}
	return n
}

// decideMember decides whether a member is deleted now. It is not if its deletion is under way or was refused recently.
func (d *pruneDecider) decideMember(m memberObject) *surplusMember {
	s := &surplusMember{memberObject: m, result: apply.ObjectResult{Outcome: apply.OutcomeUnchanged, Decision: apply.Decision{
		GVK: m.gvk, Key: m.id.Key, UID: m.uid, Verb: apply.VerbNone, Reason: apply.ReasonTerminating,
	}, HoldsData: m.holdsData}}
	if m.deleting || m.deleted {
		return s
	}
	if m.memory != nil {
		if f := m.memory.FailedIn(memory.Situation{UID: m.uid}, d.now); f != nil {
			s.result.Reason, s.result.Outcome, s.result.Err = apply.ReasonBackoff, apply.OutcomeFailed, fmt.Errorf("prune: %w", f.Err)
			s.result.RequeueAfter = f.Until.Sub(d.now)
			return s
		}
	}
	if first := d.comesFirst(m.id); first != nil {
		s.result.Outcome, s.result.Reason, s.result.WaitsUntil = apply.OutcomeWaiting, apply.ReasonWaiting, first.id.String()+" is gone"
		s.result.RequeueAfter = confirmAfter
		return s
	}
	s.result.Verb, s.result.Reason = apply.VerbPrune, apply.ReasonNotPlanned
	return s
}
