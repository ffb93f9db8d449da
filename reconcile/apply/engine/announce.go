package engine

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Announce reports that an object was added to the cache (before is nil) or has changed in it. Call it for every object with the part-of
// label, before the events that trigger a pass for its owner. It is only required with [apply.Options.Announced]. It is cheap.
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

// AnnounceOwner reports that an owner has changed in the cache. The engine needs it for an owner whose deletion orphans its children,
// because this state is visible only for a short time. It is cheap.
func (e *Engine) AnnounceOwner(owner client.Object) { e.env.announceOwner(owner) }
