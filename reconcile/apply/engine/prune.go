package engine

import (
	"errors"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// pruning decides and deletes, for one pass, the objects that left the plan.
type pruning struct {
	*pass
	// spent is the number of requests that searched for objects that left the plan.
	spent int
	// due reports that something has to be carried out or confirmed.
	due bool
	// surplus, releases, announced and guarded are those of the decision, see [pruneDecision].
	surplus            []*surplusMember
	releases           []*plannedRelease
	announced, guarded bool
	// shrunk is the inventory without confirmed entries, if it is known before the execution; nil otherwise.
	shrunk  *applyset.Inventory
	listing *listing
	// current reports that the API server has the owner, as read in this pass.
	current bool
	// unproven are objects with the label of the set that may have lost the proof.
	unproven []memberObject
	// ofSet selects the members. It is set by the first list.
	ofSet client.ListOption
}

// upToDate reports whether a listing would find nothing: the plan names the same objects as when a listing found nothing, or nothing was
// ever created that this process does not remember.
func (p *pruning) upToDate() bool {
	m := &p.memory.Prune
	if p.optedIn() {
		return false
	}
	if p.finalize || !m.Clean || m.Identity != p.identity || keepsGeneration(p.pass) || dropsGeneration(p.pass) {
		return false
	}
	if p.memory.Metadata.Fresh {
		return true
	}
	return p.now.Sub(m.First) > memory.SettleTime && p.now.Sub(m.At) < listingPeriod
}

// decide decides which objects are pruned and which contributions are given back.
func (p *pruning) decide() {
	m := &p.memory.Prune
	if p.plan.PruneBlocked != nil || p.incomplete != nil {
		m.Clean = false
		cause := p.plan.PruneBlocked
		if cause == nil {
			cause = p.incomplete
		}
		p.result.PruneBlocked = &apply.PruneBlockedError{Reason: apply.ReasonPlanIncomplete, Cause: cause}
		return
	}
	if p.finalize && !recordedInventory(p.pass).Finalizer {
		p.result.Finalized = true // garbage collection handles all children
		return
	}
	p.notePlan()
	if p.upToDate() {
		p.env.leftovers.Expire(p.now)
		p.block(copyBlocked(m.Held))
		return
	}
	if p.firstPass() {
		m.Clean, m.Identity, m.At = true, p.identity, p.now
		return
	}
	if m.First.IsZero() {
		m.First = p.now
	}
	m.Clean, m.Held = false, nil
	p.due = true
	p.decideSurplus()
}

// pruneFailed reports that the objects that left the plan are unknown, or that the inventory could not be written.
func (p *pruning) pruneFailed(err error) {
	m := &p.memory.Prune
	p.block(&apply.PruneBlockedError{Reason: apply.ReasonPruneFailed, Cause: err})
	p.requeue(memory.Backoff(m.Failures, p.env.options.ContestInterval)) // no event reports that a retry would succeed
	m.Failures++
}

// firstPass reports whether this is the first pass over an owner without an inventory, for an engine without declared kinds. All existing
// children were then just planned.
func (p *pruning) firstPass() bool {
	return p.memory.Metadata.Fresh && p.env.declared == nil && p.memory.Prune.At.IsZero() && p.memory.Pass == 1 && !p.finalize
}

// decideSurplus lists the members of the set and decides which are deleted.
func (p *pruning) decideSurplus() {
	l := newListing()
	if l.scanned = p.noneLeftOver(); !l.scanned {
		l = p.members()
	}
	p.listing = l
	p.noteSeen(l)
	p.noteOptedOut(l)
	o := p.observe(l)
	o.parts = p.observeParts(l)
	p.adopt(l, decidePrune(&o))
	if len(l.failed) > 0 {
		p.pruneFailed(errors.Join(l.failed...))
	}
	if l.more {
		p.requeue(confirmAfter)
	}
	held := p.guarded || slices.ContainsFunc(p.surplus, p.unfinished) || slices.ContainsFunc(p.releases, (*plannedRelease).pending)
	if !held {
		p.decideShrink(l)
	}
}

// observe returns what the decision depends on.
func (p *pruning) observe(l *listing) pruneObservation {
	m := &p.memory.Prune
	return pruneObservation{
		facts: &p.facts, plan: p.plan, children: p.children, deletions: p.deletions, orphaned: p.orphans(),
		members: l.members, unproven: p.unproven, unknown: l.unknown, unresolved: p.unknown,
		unreadable: unreadableInventory(p.pass, recordedInventory(p.pass)),
		existed:    m.Existed, since: m.Since, seen: m.Seen, restarted: m.SincePass == 1, explained: p.followsChange(), waited: m.Waiting,
	}
}

// adopt makes a decision that of the pass.
func (p *pruning) adopt(l *listing, d pruneDecision) {
	p.surplus, p.releases, p.announced = d.surplus, d.releases, d.announced
	p.note(l, &d)
	for _, m := range d.surplus {
		if m.result.Reason != apply.ReasonTerminating {
			p.memory.Child(m.id).Surplus(m.gvk)
		}
	}
}

// note takes over what a decision reports and remembers.
func (p *pruning) note(l *listing, d *pruneDecision) {
	l.members = d.found
	for _, gk := range d.open {
		l.open[gk] = struct{}{}
	}
	p.block(d.blocked)
	p.requeue(d.requeueAfter)
	p.guarded = p.guarded || d.guarded
	p.memory.Prune.Waiting = d.waiting
}

// carryOut carries out the decisions and removes confirmed entries from the inventory.
func (p *pruning) carryOut() {
	if !p.due {
		return
	}
	if err := p.pruneDecided(); err != nil {
		p.pruneFailed(err)
		return
	}
	if len(p.listing.failed) == 0 {
		p.memory.Prune.Failures = 0
	}
}

func (p *pruning) pruneDecided() error {
	l := p.listing
	remaining := p.pruneAll()
	if p.announced && p.result.PruneBlocked != nil {
		if err := p.recordChangeToken(); err != nil {
			return err
		}
	}
	if p.finalize {
		var rest []memberObject
		if remaining {
			// The owner waits for nothing else: list at once.
			l = p.members()
			o := p.observe(l)
			members, again := stillWaitedFor(&o, p.releases)
			p.note(l, &again)
			rest, remaining = members, p.awaited(members)
		}
		p.reportWaiting(rest)
	}
	kept := p.releaseAll()
	p.noteHeldParts()
	if remaining || p.guarded {
		return nil // the inventory stays until they are confirmed to be gone
	}
	if slices.ContainsFunc(p.surplus, p.deletedLast) && (p.finished(l, kept) == nil || p.pruneLast()) {
		return nil
	}
	garbled := recordedInventory(p.pass).Garbled()
	if err := p.shrink(l, kept); err != nil {
		return err
	}
	if garbled && !recordedInventory(p.pass).Garbled() {
		return nil // the next pass has nothing to report any more
	}
	if !p.failedRelease() && !p.keepsPart() && len(l.failed) == 0 && !l.more {
		m := &p.memory.Prune
		m.Clean, m.Identity, m.At = true, p.identity, p.now
		m.Held = copyBlocked(p.result.PruneBlocked)
		if m.Retired.IsZero() || p.now.Sub(m.Retired) >= listingPeriod {
			m.Retired = p.now
		}
		p.memory.Guard.Open = false
		p.memory.DropOthers()
	}
	return nil
}

// failedRelease reports whether a contribution could not be given back.
func (p *pruning) failedRelease() bool {
	return slices.ContainsFunc(p.releases, func(r *plannedRelease) bool { return r.result.Err != nil })
}
