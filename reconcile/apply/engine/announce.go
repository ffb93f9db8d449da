package engine

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// announce marks the set that an object has come into.
func (e *env) announce(before, after client.Object) {
	if !e.leftovers.open.Load() || after == nil {
		return
	}
	id := after.GetLabels()[apply.PartOfLabel]
	if id == "" {
		return
	}
	if before != nil && before.GetUID() == after.GetUID() && before.GetLabels()[apply.PartOfLabel] == id {
		return
	}
	e.leftovers.mark(e.hasher.Text(id))
}
