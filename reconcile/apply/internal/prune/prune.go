package prune

import (
	"errors"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// upToDate reports that a listing would find nothing: the plan names the same
// objects as when one found nothing, or nothing was ever made that this
// process does not remember.
func (p *Prune) upToDate() bool {
	m := &p.Memory.Prune
	if p.optedIn() {
		return false
	}
	if p.Finalize || !m.Clean || m.Identity != p.Identity || inventory.KeepsGeneration(p.Pass) || inventory.DropsGeneration(p.Pass) {
		return false
	}
	if p.Memory.Metadata.Fresh {
		return true
	}
	return p.Now.Sub(m.First) > memory.SettleTime && p.Now.Sub(m.At) < listingPeriod
}

// Decide decides what is removed because it is no longer planned.
func (p *Prune) Decide() {
	m := &p.Memory.Prune
	if p.Plan.PruneBlocked != nil || p.Incomplete != nil {
		m.Clean = false
		cause := p.Plan.PruneBlocked
		if cause == nil {
			cause = p.Incomplete
		}
		p.Result.PruneBlocked = &apply.PruneBlockedError{Reason: apply.ReasonPlanIncomplete, Cause: cause}
		return
	}
	if p.Finalize && !inventory.Recorded(p.Pass).Finalizer {
		p.Result.Finalized = true // all children are for garbage collection
		return
	}
	p.notePlan()
	if p.upToDate() {
		p.Env.Leftovers.Expire(p.Now)
		p.Block(pass.CopyBlocked(m.Held))
		return
	}
	if p.firstPass() {
		m.Clean, m.Identity, m.At = true, p.Identity, p.Now
		return
	}
	if m.First.IsZero() {
		m.First = p.Now
	}
	m.Clean, m.Held = false, nil
	p.due = true
	p.decideSurplus()
}

// pruneFailed reports that what is no longer planned is not known, or could not
// be taken off the inventory.
func (p *Prune) pruneFailed(err error) {
	m := &p.Memory.Prune
	p.Block(&apply.PruneBlockedError{Reason: apply.ReasonPruneFailed, Cause: err})
	p.Requeue(memory.Backoff(m.Failures, p.Env.Options.ContestInterval)) // no event announces a better answer
	m.Failures++
}

// firstPass reports whether this is the first pass over an owner that had no
// inventory, for an engine that does not know in which kinds children could be
// all the same: what exists is what was just planned.
func (p *Prune) firstPass() bool {
	return p.Memory.Metadata.Fresh && p.Env.Declared == nil && p.Memory.Prune.At.IsZero() && p.Memory.Pass == 1 && !p.Finalize
}

// decideSurplus lists the members of the set and decides which go.
func (p *Prune) decideSurplus() {
	l := newListing()
	if l.scanned = p.noneLeftOver(); !l.scanned {
		l = p.members()
	}
	p.listing = l
	p.decideReleases(l)
	p.noteSeen(l)
	p.noteOptedOut(l)
	surplus := p.leaveUnknown(l, append(p.notPlanned(l.members), p.releasedMembers()...))
	surplus = p.keepHeldReleases(surplus, apply.VerbRelease) // whose object stays is nothing to guard
	if err := inventory.Unreadable(p.Pass, inventory.Recorded(p.Pass)); err != nil {
		p.Block(&apply.PruneBlockedError{Reason: apply.ReasonUnknown, Cause: err})
	}
	known := existedBefore(l.members, p.Memory.Prune.Existed, p.Memory.Prune.SincePass == 1) + p.sharedChildren()
	p.announced = p.exceedsLimits(surplus, known) && !p.Finalize
	surplus = p.keepHeldReleases(p.keepReplaced(p.guard(surplus, known)), apply.VerbPrune)
	p.announced = p.announced && !p.held
	for _, m := range surplus {
		p.Surplus = append(p.Surplus, p.decideMember(m))
	}
	if len(l.failed) > 0 {
		p.pruneFailed(errors.Join(l.failed...))
	}
	if l.more {
		p.Requeue(pass.ConfirmAfter)
	}
	held := p.held || slices.ContainsFunc(p.Surplus, p.unfinished) || slices.ContainsFunc(p.Releases, (*plannedRelease).Pending)
	if !held {
		p.decideShrink(l)
	}
}

// CarryOut carries out what was decided, and shrinks the inventory by what is
// gone.
func (p *Prune) CarryOut() {
	if !p.due {
		return
	}
	if err := p.pruneDecided(); err != nil {
		p.pruneFailed(err)
		return
	}
	if len(p.listing.failed) == 0 {
		p.Memory.Prune.Failures = 0
	}
}

func (p *Prune) pruneDecided() error {
	l := p.listing
	remaining := p.pruneAll()
	if p.announced && p.Result.PruneBlocked != nil {
		if err := p.recordChangeToken(); err != nil {
			return err
		}
	}
	if p.Finalize {
		var rest []memberObject
		if remaining {
			// The owner waits for nothing else: look at once.
			l = p.members()
			rest = p.leaveUnknown(l, p.notPlanned(l.members))
			remaining = p.awaited(rest)
		}
		p.reportWaiting(rest)
	}
	kept := p.releaseAll()
	p.noteHeldParts()
	if remaining || p.held {
		return nil // the inventory stays until they are confirmed to be gone
	}
	if slices.ContainsFunc(p.Surplus, p.comesLast) && (p.finished(l, kept) == nil || p.pruneLast()) {
		return nil
	}
	garbled := inventory.Recorded(p.Pass).Garbled()
	if err := p.shrink(l, kept); err != nil {
		return err
	}
	if garbled && !inventory.Recorded(p.Pass).Garbled() {
		return nil // the next pass has nothing to report any more
	}
	if !p.failedRelease() && !p.keepsPart() && len(l.failed) == 0 && !l.more {
		m := &p.Memory.Prune
		m.Clean, m.Identity, m.At = true, p.Identity, p.Now
		m.Held = pass.CopyBlocked(p.Result.PruneBlocked)
		if m.Retired.IsZero() || p.Now.Sub(m.Retired) >= listingPeriod {
			m.Retired = p.Now
		}
		p.Memory.Guard.Open = false
		p.Memory.DropOthers()
	}
	return nil
}

// failedRelease reports whether a contribution could not be given back.
func (p *Prune) failedRelease() bool {
	return slices.ContainsFunc(p.Releases, func(r *plannedRelease) bool { return r.Result.Err != nil })
}
