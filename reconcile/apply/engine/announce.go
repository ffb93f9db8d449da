package engine

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Announce tells the engine that an object has come into its cache (before is
// nil) or has changed there. It must be called for every object with
// the part-of label before the events that lead to a pass for its owner, and only
// matters with [apply.Options.Announced]. It is cheap.
func (e *Engine) Announce(before, after client.Object) {
	if !e.env.leftovers.Open.Load() || after == nil {
		return
	}
	id := after.GetLabels()[applyset.PartOfLabel]
	if id == "" {
		return
	}
	if before != nil && before.GetUID() == after.GetUID() && before.GetLabels()[applyset.PartOfLabel] == id {
		return
	}
	e.env.leftovers.Mark(e.env.hasher.Text(id))
}

// AnnounceOwner tells the engine that an owner has changed in its cache. It
// only matters for an owner whose deletion leaves its children, which does not
// show for long. It is cheap.
func (e *Engine) AnnounceOwner(owner client.Object) { e.env.announceOwner(owner) }
