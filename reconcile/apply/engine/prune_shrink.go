package engine

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// shrunkInventory returns the inventory without entries that are confirmed to be gone, nil if it is unchanged. Unplanned kinds have been
// listed live without a result; namespaces are listed live here. kept are contributions that were not given back.
func (p *pruning) shrunkInventory(l *listing, kept []applyset.ObjectID) *applyset.Inventory {
	if p.group != nil {
		return nil
	}
	if p.finalize {
		return p.finished(l, kept)
	}
	stored := p.memory.Metadata.Stored
	if p.wanted != nil {
		stored = p.wanted // once it is written
	}
	wanted := p.remaining(l, kept)
	if wanted.Equal(stored) && p.allowPrune == "" {
		return nil
	}
	return wanted
}

// decideShrink decides which entries leave the inventory when nothing has to be deleted or given back any more.
func (p *pruning) decideShrink(l *listing) {
	if shrunk := p.shrunkInventory(l, p.keptReleases()); shrunk != nil {
		p.shrunk = shrunk
		reportOwnerWrite(p.pass)
	}
}

// shrink records the inventory without the entries that are gone.
func (p *pruning) shrink(l *listing, kept []applyset.ObjectID) error {
	shrunk := p.shrunk
	if shrunk == nil || p.finalize { // the execution may have failed
		shrunk = p.shrunkInventory(l, kept)
	}
	p.allowPrune = "" // the prune that it allowed is done
	if shrunk != nil {
		if err := recordInventory(p.pass, shrunk); err != nil && (!p.finalize || client.IgnoreNotFound(err) != nil) {
			if p.finalize {
				return fmt.Errorf("remove the finalizer of the owner: %w", err)
			}
			return fmt.Errorf("update the metadata of the owner: %w", err)
		}
		p.result.Finalized = p.result.Finalized || p.finalize
	}
	if !l.more && len(l.failed) == 0 {
		p.memory.Metadata.Lost = false
	}
	return nil
}

// remaining returns the inventory according to the listing.
func (p *pruning) remaining(l *listing, kept []applyset.ObjectID) *applyset.Inventory {
	recorded := recordedInventory(p.pass)
	wanted := plannedInventory(p.pass)
	wanted.Contributions = append(wanted.Contributions, kept...)
	wanted.Finalizer = wanted.Finalizer || len(kept) > 0
	wanted.Generation = recorded.Generation
	if keepsGeneration(p.pass) {
		wanted.Generation = p.owner.GetGeneration()
	} else if dropsGeneration(p.pass) {
		wanted.Generation = 0
	}
	for _, gk := range recorded.Kinds {
		if _, open := l.open[gk]; open {
			wanted.Kinds = append(wanted.Kinds, gk)
			wanted.Finalizer = wanted.Finalizer || recorded.Finalizer // some children may be out of reach
		}
	}
	wanted.UnreadableContributions = recorded.UnreadableContributions
	if p.env.declared == nil || len(l.failed) > 0 || l.more {
		wanted.UnreadableKinds = recorded.UnreadableKinds // else all kinds were searched
	}
	for _, ns := range recorded.Namespaces {
		if !slices.Contains(wanted.Namespaces, ns) && !p.emptyNamespace(l, ns, wanted) {
			wanted.Namespaces = append(wanted.Namespaces, ns)
			wanted.Finalizer = wanted.Finalizer || recorded.Finalizer
		}
	}
	wanted.Normalise()
	if wanted.Empty() {
		wanted.Generation = 0 // it explains a later prune, and nothing is left to prune
	}
	return wanted
}

// emptyNamespace reports whether the API server has no member in a namespace without planned children. For unplanned kinds it uses the
// lists of this pass; it lists planned kinds here.
func (p *pruning) emptyNamespace(l *listing, namespace string, inv *applyset.Inventory) bool {
	if !l.scanned && !slices.Contains(l.searched, namespace) {
		return false
	}
	if p.env.declared != nil && p.now.Sub(p.memory.Prune.First) > memory.SettleTime {
		// The cache has been listed in all namespaces, and no longer has its initial, possibly old state.
		return !slices.ContainsFunc(l.members, func(m memberObject) bool { return m.id.Key.Namespace == namespace })
	}
	planned := p.plannedKinds()
	for _, gk := range inv.Kinds {
		k := planned[gk]
		if k == nil || !k.Namespaced {
			continue
		}
		before := len(l.members)
		if !p.listLive(l, k, namespace) || len(l.members) > before {
			return false
		}
	}
	return true
}

// finished returns the inventory of an owner that is being deleted and waits for nothing, nil while it waits.
func (p *pruning) finished(l *listing, kept []applyset.ObjectID) *applyset.Inventory {
	if len(kept) > 0 || p.plan.Hold || p.deleting() || !p.allKnown(l) {
		return nil
	}
	done := *recordedInventory(p.pass)
	done.Finalizer, done.Orphan = false, false
	done.Contributions = nil
	return &done
}

// allKnown reports whether an owner that is being deleted has no children left. PruneBlocked reports what it waits for.
func (p *pruning) allKnown(l *listing) bool {
	recorded := recordedInventory(p.pass)
	if l.more || len(l.failed) > 0 || recorded.Garbled() {
		return false
	}
	known := true
	for gk := range l.unknown {
		if p.mayBeFar(gk, recorded) {
			known = false
		}
	}
	return p.confirmedAbsent(l) && known
}

// mayBeFar reports whether a kind may have children that garbage collection does not reach.
func (p *pruning) mayBeFar(gk schema.GroupKind, recorded *applyset.Inventory) bool {
	mapping, err := p.env.client.RESTMapper().RESTMapping(gk)
	namespaced := err == nil && mapping.Scope.Name() == meta.RESTScopeNameNamespace
	return p.ownerKind.Namespaced && (!namespaced || len(recorded.Namespaces) > 0)
}

// confirmedAbsent reports whether the kinds that are not served have been missing for longer than the maximum lag of a cache, because
// discovery may be stale.
func (p *pruning) confirmedAbsent(l *listing) bool {
	m := &p.memory.Prune
	if m.Absent == nil {
		m.Absent = map[schema.GroupKind]time.Time{}
	}
	confirmed := true
	for _, gk := range l.absent {
		since, known := m.Absent[gk]
		if !known {
			since = p.now
			m.Absent[gk] = since
		}
		if rest := p.env.options.LagDeadline - p.now.Sub(since); rest > 0 {
			p.block(&apply.PruneBlockedError{Reason: apply.ReasonUnknown, Cause: fmt.Errorf(
				"%s is in the inventory and is not served; waiting %s in case it comes back", gk, p.env.options.LagDeadline)})
			p.requeue(rest)
			confirmed = false
		}
	}
	return confirmed
}

// deleting reports whether a planned deletion is not confirmed yet or is blocked.
func (p *pruning) deleting() bool {
	if slices.ContainsFunc(p.deletions, func(d *deletion) bool {
		return (d.result.Verb == apply.VerbDelete || d.result.Reason == apply.ReasonTerminating) && !d.holdsOwner
	}) {
		return true
	}
	if slices.ContainsFunc(p.children, func(c *child) bool { return c.result.Err != nil }) {
		return true
	}
	return slices.ContainsFunc(p.result.Objects, func(r apply.ObjectResult) bool {
		return r.Err != nil || (r.Outcome == apply.OutcomeDeleted && !p.holdsOwner(applyset.ObjectID{GroupKind: r.GVK.GroupKind(), Key: r.Key}))
	})
}
