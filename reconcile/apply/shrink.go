package apply

import (
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// shrunk is the inventory without what is confirmed to be gone, nil if it
// stays: kinds that are not planned were listed live without a result,
// namespaces are listed live here. kept are contributions that could not be
// given back.
func (p *pass) shrunk(kept []applyset.ObjectID) (*applyset.Inventory, error) {
	if p.group != nil {
		return nil, nil
	}
	recorded, err := p.recorded()
	if err != nil {
		return nil, err
	}
	if p.wanted != nil {
		recorded = p.wanted // when it comes to this
	}
	if p.finalize {
		return p.finished(recorded, kept), nil
	}
	wanted := p.plannedInventory()
	wanted.Contributions = append(wanted.Contributions, kept...)
	wanted.Finalizer = wanted.Finalizer || len(kept) > 0
	for _, ns := range recorded.Namespaces {
		if slices.Contains(wanted.Namespaces, ns) {
			continue
		}
		empty, err := p.emptyNamespace(ns, wanted)
		if err != nil {
			return nil, err
		}
		if !empty {
			wanted.Namespaces = append(wanted.Namespaces, ns)
			wanted.Finalizer = wanted.Finalizer || p.ownerKind.namespaced
		}
	}
	wanted.Normalise()
	if wanted.Equal(recorded) && p.allowPrune == "" {
		return nil, nil
	}
	return wanted, nil
}

// decideShrink decides what is taken out of the inventory when nothing has to
// be deleted or given back any more.
func (p *pass) decideShrink() error {
	shrunk, err := p.shrunk(nil)
	if err != nil || shrunk == nil {
		return err
	}
	p.pruning.shrunk = shrunk
	p.announce()
	return nil
}

// shrink records the inventory without what is gone.
func (p *pass) shrink(kept []applyset.ObjectID) error {
	shrunk := p.pruning.shrunk
	if shrunk == nil || p.finalize { // what was carried out may have failed
		var err error
		if shrunk, err = p.shrunk(kept); err != nil {
			return err
		}
	}
	p.allowPrune = "" // the prune that it allowed is done
	if shrunk == nil {
		return nil
	}
	if err := p.record(shrunk); err != nil && (!p.finalize || client.IgnoreNotFound(err) != nil) {
		return fmt.Errorf("shrink the inventory: %w", err)
	}
	if p.finalize {
		p.result.Finalized = true
	}
	return nil
}

// emptyNamespace confirms with the API server that no member of a planned kind
// is in a namespace; other kinds have been listed live already.
func (p *pass) emptyNamespace(namespace string, inv *applyset.Inventory) (bool, error) {
	planned := p.plannedKinds()
	for _, gk := range inv.Kinds {
		k := planned[gk]
		if k == nil || !k.namespaced {
			continue
		}
		objects, err := p.listIn(k.gvk, nil, namespace)
		if err != nil {
			return false, fmt.Errorf("list %s in %s: %w", gk, namespace, err)
		}
		if len(objects) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// finished is the inventory of an owner that is being deleted and waits for
// nothing any more, nil while it does.
func (p *pass) finished(recorded *applyset.Inventory, kept []applyset.ObjectID) *applyset.Inventory {
	if len(kept) > 0 || p.plan.Hold || p.deleting() {
		return nil
	}
	done := *recorded
	done.Finalizer = false
	done.Contributions = nil
	return &done
}

// deleting reports whether a planned deletion is not confirmed yet, or
// something else stands in the way.
func (p *pass) deleting() bool {
	if slices.ContainsFunc(p.deletions, func(d *plannedDeletion) bool {
		return d.result.Verb == VerbDelete || d.result.Reason == ReasonTerminating
	}) {
		return true
	}
	if slices.ContainsFunc(p.children, func(c *planned) bool { return c.result.Err != nil }) {
		return true
	}
	return slices.ContainsFunc(p.result.Objects, func(r ObjectResult) bool {
		return r.Err != nil || r.Outcome == Deleted || (r.Outcome == Unchanged && r.UID != "")
	})
}

// conclude remembers a pass in which nothing failed.
func (p *pass) conclude() {
	if p.result.PruneBlocked != nil || p.result.OwnerErr != nil {
		return
	}
	for i := range p.result.Objects {
		if p.result.Objects[i].Err != nil {
			return
		}
	}
	m := &p.memory.prune
	m.applied, m.generation, m.inputs = true, p.owner.GetGeneration(), p.plan.Inputs
}
