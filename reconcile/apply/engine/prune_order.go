package engine

import (
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// orderedIDs returns the members with a recorded order, and those that have to be deleted after one of them. Garbage collection has no order,
// so that the engine deletes these members itself.
func orderedIDs(members []memberObject) map[applyset.ObjectID]bool {
	var out map[applyset.ObjectID]bool
	for i := range members {
		m := &members[i]
		if len(m.after) == 0 || m.optedOut {
			continue
		}
		if out == nil {
			out = map[applyset.ObjectID]bool{}
		}
		out[m.id] = true
		for _, id := range m.after {
			out[id] = true
		}
	}
	return out
}

// comesFirst returns a member that leaves the plan and must be gone before the object is deleted or given back, nil if there is none. A
// deleted owner does not wait for the objects that cannot be gone before it. Annotations that contradict each other have no effect.
func (d *pruneDecider) comesFirst(id applyset.ObjectID) *memberObject {
	for i := range d.leaving {
		m := &d.leaving[i]
		if m.id != id && slices.Contains(m.after, id) && !d.last(*m) && !d.follows(id, m.id) {
			return m
		}
	}
	return nil
}

// follows reports whether an object comes after another one, directly or by way of the leaving members between them.
func (d *pruneDecider) follows(id, other applyset.ObjectID) bool {
	seen := map[applyset.ObjectID]bool{}
	for next := []applyset.ObjectID{id}; len(next) > 0; {
		id, next = next[0], next[1:]
		at := slices.IndexFunc(d.leaving, func(m memberObject) bool { return m.id == id })
		if seen[id] || at < 0 {
			continue
		}
		seen[id] = true
		if slices.Contains(d.leaving[at].after, other) {
			return true
		}
		next = append(next, d.leaving[at].after...)
	}
	return false
}
