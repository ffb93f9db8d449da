package engine

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// rank orders deletions by their kind; one of an unknown kind comes last.
func (d *deletion) rank() int {
	if d.kind == nil {
		return 0
	}
	return d.kind.Rank
}

// noteDeleted remembers an accepted deletion, for caches that lag.
func (p *pass) noteDeleted(id applyset.ObjectID, uid types.UID) {
	m := p.memory.Child(id)
	m.NoteDeleted(uid, p.now)
	m.ForgetProof()
	m.DeletedIn(p.memory.Pass)
}

// deletedAlready reports whether this object's deletion was accepted a moment
// ago.
func (p *pass) deletedAlready(id applyset.ObjectID, uid types.UID) bool {
	m := p.memory.Children[id]
	if m == nil || !m.WasDeleted(uid) {
		return false
	}
	m.DeletedIn(p.memory.Pass)
	return m.DeletedRecently(uid, p.now, p.env.options.LagDeadline)
}
