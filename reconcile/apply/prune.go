package apply

import (
	"time"
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

// prune removes what is no longer planned, gives contributions back, and
// shrinks the inventory by what is gone.
func (p *pass) prune() {
	m := &p.memory.prune
	if p.set.PruneBlocked != nil || p.incomplete != nil {
		m.clean = false
		cause := p.set.PruneBlocked
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
	if err := p.pruneListed(); err != nil {
		p.result.PruneBlocked = &PruneBlockedError{Reason: PruneFailed, Cause: err}
		p.result.requeue(backoff(m.failures, p.engine.opts.ContestInterval)) // no event announces a better answer
		m.failures++
		return
	}
	m.failures = 0
}

// firstEver says that this is the first pass over an owner that had no
// inventory: what exists is what was just planned.
func (p *pass) firstEver() bool {
	return p.memory.metadata.fresh && p.memory.prune.at.IsZero() && p.memory.pass == 1 && !p.finalize
}

func (p *pass) pruneListed() error {
	var members []memberObject
	if !p.noneLeftOver() {
		var err error
		if members, err = p.members(); err != nil {
			return err
		}
	}
	surplus := p.surplus(members)
	if blocked := p.guard(surplus, len(members)); blocked != nil {
		p.result.PruneBlocked = blocked
		return nil //nolint:nilerr // it is in the result
	}
	unfinished := p.drastic(surplus, len(members)) && !p.finalize
	remaining := p.pruneAll(surplus)
	if unfinished && p.result.PruneBlocked != nil {
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
