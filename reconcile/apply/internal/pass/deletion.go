package pass

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// Rank orders deletions by their kind; one of an unknown kind comes last.
func (d *Deletion) Rank() int {
	if d.Kind == nil {
		return 0
	}
	return d.Kind.Rank
}

// NoteDeleted remembers an accepted deletion, for caches that lag.
func (p *Pass) NoteDeleted(id applyset.ObjectID, uid types.UID) {
	m := p.Memory.Child(id)
	m.NoteDeleted(uid, p.Now)
	m.ForgetProof()
	m.DeletedIn(p.Memory.Pass)
}

// DeletedAlready reports whether this object's deletion was accepted a moment
// ago.
func (p *Pass) DeletedAlready(id applyset.ObjectID, uid types.UID) bool {
	m := p.Memory.Children[id]
	if m == nil || !m.WasDeleted(uid) {
		return false
	}
	m.DeletedIn(p.Memory.Pass)
	return m.DeletedRecently(uid, p.Now, p.Env.Options.LagDeadline)
}
