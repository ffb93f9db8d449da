package engine

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// announce marks the set that an object has come into.
func announce(e *env, before, after client.Object) {
	if !e.leftovers.Open.Load() || after == nil {
		return
	}
	id := after.GetLabels()[applyset.PartOfLabel]
	if id == "" {
		return
	}
	if before != nil && before.GetUID() == after.GetUID() && before.GetLabels()[applyset.PartOfLabel] == id {
		return
	}
	e.leftovers.Mark(e.hasher.Text(id))
}
