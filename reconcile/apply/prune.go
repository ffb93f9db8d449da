package apply

import (
	"slices"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// pruneMemory is what is remembered about the last prune of an owner.
type pruneMemory struct {
	// clean says that the last listing found nothing to prune, for the plan
	// with this identity, at that time.
	clean    bool
	identity uint64
	at       time.Time
	// first is when this process first listed for the owner.
	first time.Time
	// failures counts the passes in a row that could not list or shrink.
	failures int
	// applied says that generation and inputs are those of a pass in which
	// nothing failed.
	applied    bool
	generation int64
	inputs     string
}

// After a restart a cache may start from an old state, so that in the first
// minute every pass lists; later a listing is repeated now and then. Listings
// of planned kinds come from the cache and cost no request, and owners share
// one where they can, see [census].
const (
	settleTime    = time.Minute
	listingPeriod = 10 * time.Minute
)

// listed says that a listing would find nothing: the plan names the same
// objects as when one found nothing, or nothing was ever made that this
// process does not remember.
func (p *pass) listed() bool {
	m := &p.memory.prune
	if p.finalize || !m.clean || m.identity != p.identity {
		return false
	}
	if p.memory.metadata.fresh {
		return true
	}
	return p.now.Sub(m.first) > settleTime && p.now.Sub(m.at) < listingPeriod
}

// pruning is what was decided about what is no longer planned.
type pruning struct {
	// due says that there is something to carry out, or to confirm.
	due bool
	// surplus are the members to delete, releases the contributions to give
	// back.
	surplus  []*surplusMember
	releases []*plannedRelease
	// shrunk is the inventory without what is gone, when that is known before
	// anything is carried out; nil otherwise.
	shrunk *applyset.Inventory
	// explain says that the prune is large and explained, which the owner has
	// to say while it lasts.
	explain bool
}

// decidePrune decides what is removed because it is no longer planned.
func (p *pass) decidePrune() {
	m := &p.memory.prune
	if p.plan.PruneBlocked != nil || p.incomplete != nil {
		m.clean = false
		cause := p.plan.PruneBlocked
		if cause == nil {
			cause = p.incomplete
		}
		p.result.PruneBlocked = &PruneBlockedError{Reason: PruneIncomplete, Cause: cause}
		return
	}
	if p.finalize {
		if recorded, err := p.recorded(); err == nil && !recorded.Finalizer {
			p.result.Finalized = true // all children are for garbage collection
			return
		}
	}
	if p.listed() {
		p.engine.census.expire(p.now)
		return
	}
	if p.firstEver() {
		m.clean, m.identity, m.at = true, p.identity, p.now
		return
	}
	if m.first.IsZero() {
		m.first = p.now
	}
	m.clean = false
	p.pruning.due = true
	if err := p.decideSurplus(); err != nil {
		p.pruneFailed(err)
	}
}

// pruneFailed says that what is no longer planned is not known, or could not
// be taken off the inventory. It ends the prune of this pass.
func (p *pass) pruneFailed(err error) {
	p.pruning.due = false
	m := &p.memory.prune
	p.result.PruneBlocked = &PruneBlockedError{Reason: PruneFailed, Cause: err}
	p.result.requeue(backoff(m.failures, p.engine.opts.ContestInterval)) // no event announces a better answer
	m.failures++
}

// firstEver reports whether this is the first pass over an owner that had no
// inventory: what exists is what was just planned.
func (p *pass) firstEver() bool {
	return p.memory.metadata.fresh && p.memory.prune.at.IsZero() && p.memory.pass == 1 && !p.finalize
}

// decideSurplus lists the members of the set and decides which go.
func (p *pass) decideSurplus() error {
	var members []memberObject
	if !p.noneLeftOver() {
		var err error
		if members, err = p.members(); err != nil {
			return err
		}
	}
	surplus := p.surplus(members)
	known := len(members) + p.plannedBesides(members)
	if blocked := p.guard(surplus, known); blocked != nil {
		p.result.PruneBlocked = blocked
		p.pruning.due = false
		return nil //nolint:nilerr // it is in the result
	}
	p.pruning.explain = p.drastic(surplus, known) && !p.finalize
	for _, m := range surplus {
		p.pruning.surplus = append(p.pruning.surplus, p.decideMember(m))
	}
	if err := p.decideReleases(); err != nil {
		return err
	}
	if len(p.pruning.surplus) > 0 || slices.ContainsFunc(p.pruning.releases, (*plannedRelease).pending) {
		return nil
	}
	return p.decideShrink()
}

// plannedBesides counts the planned members that do not exist yet.
func (p *pass) plannedBesides(members []memberObject) int {
	existing := 0
	for i := range members {
		if members[i].planned {
			existing++
		}
	}
	planned := 0
	for _, c := range p.children {
		if c.memory != nil && c.member() {
			planned++
		}
	}
	return max(0, planned-existing)
}

// prune carries out what was decided, and shrinks the inventory by what is
// gone.
func (p *pass) prune() {
	if !p.pruning.due {
		return
	}
	if err := p.pruneDecided(); err != nil {
		p.pruneFailed(err)
		return
	}
	p.memory.prune.failures = 0
}

func (p *pass) pruneDecided() error {
	remaining := p.pruneAll()
	if p.pruning.explain && p.result.PruneBlocked != nil {
		if err := p.noteExplained(); err != nil {
			return err
		}
	}
	if remaining && p.finalize {
		// The owner waits for nothing else: look at once.
		members, err := p.members()
		if err != nil {
			return err
		}
		remaining = len(p.surplus(members)) > 0
	}
	kept := p.releaseAll()
	if remaining {
		return nil // the inventory stays until they are confirmed to be gone
	}
	if err := p.shrink(kept); err != nil {
		return err
	}
	if len(kept) == 0 {
		m := &p.memory.prune
		m.clean, m.identity, m.at = true, p.identity, p.now
		p.dropForgotten()
	}
	return nil
}
