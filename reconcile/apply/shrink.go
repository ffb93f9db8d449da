package apply

import (
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// shrink takes out of the inventory what is confirmed to be gone: kinds that
// are not planned were listed live without a result, namespaces are listed
// live here. kept are contributions that could not be given back.
func (p *pass) shrink(kept []applyset.ObjectID) error {
	if p.group != nil {
		return nil
	}
	recorded, err := p.recorded()
	if err != nil {
		return err
	}
	if p.finalize {
		return p.finish(recorded, kept)
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
			return err
		}
		if !empty {
			wanted.Namespaces = append(wanted.Namespaces, ns)
			wanted.Finalizer = wanted.Finalizer || p.ownerKind.namespaced
		}
	}
	wanted.Normalise()
	allowed := p.allowPrune != ""
	p.allowPrune = "" // the prune that it allowed is done
	if wanted.Equal(recorded) && !allowed {
		return nil
	}
	if err := p.record(wanted); err != nil {
		return fmt.Errorf("shrink the inventory: %w", err)
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

// finish removes the finalizer of an owner that is being deleted when nothing
// is left for it to wait for.
func (p *pass) finish(recorded *applyset.Inventory, kept []applyset.ObjectID) error {
	if !recorded.Finalizer {
		p.result.Finalized = true
		return nil
	}
	if len(kept) > 0 || p.set.Hold || len(p.set.Children) > 0 || p.deleting() {
		return nil
	}
	done := *recorded
	done.Finalizer = false
	done.Contributions = nil
	if err := p.record(&done); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	p.result.Finalized = true
	return nil
}

// deleting says that a planned deletion is not confirmed yet.
func (p *pass) deleting() bool {
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
	m.applied, m.generation, m.inputs = true, p.owner.GetGeneration(), p.set.Inputs
}
