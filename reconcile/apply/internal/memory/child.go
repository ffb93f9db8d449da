package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// Child is what is remembered about one child: a few hundred bytes.
type Child struct {
	// GVK and mode are those of the last plan.
	GVK  schema.GroupVersionKind
	Mode apply.Mode
	// intent is the hash of the intent that was proven or applied, version
	// the resourceVersion that it was proven with, projection the hash of
	// our fields in it. proven is false when they say nothing.
	Proven     bool
	Intent     uint64
	Version    string
	Projection uint64
	// Shape is the projection by the intent's own shape, for caches without
	// managedFields.
	Shape uint64
	// Owned are our fields in that version.
	Owned OwnedFields
	// Retries counts the applies of the intent that the server has not taken as
	// they are.
	Retries int
	// UID is the object last seen or written.
	UID types.UID
	// Ours is the object that was proven to be a child of the owner.
	Ours types.UID
	// Written is our last write, until the cache shows it.
	Written freshness.Write
	// Deleted is the UID of an object whose deletion was accepted, deletedAt
	// when it was.
	Deleted   types.UID
	deletedAt time.Time
	// Pass is the last pass that planned the child, or deleted it.
	Pass uint64
	// Since and Last are the first and the last of the passes in a row that
	// planned it.
	Since, Last uint64
	// DeletedByOthers are counted for an object that others delete.
	DeletedByOthers *DeletedByOthers
	// Failure is set while something is wrong.
	Failure *Failure
	// Contest is set while fields are left to others, repairs counts those
	// of single fields.
	Contest *Contest
	Repairs map[string]Repairs
}

// Accept remembers that the intent is true in this version.
func (m *Child) Accept(intent uint64, version string) {
	m.Proven, m.Intent, m.Version = true, intent, version
}

// Becomes notes that the child is planned in another mode or version. What one
// mode has shown about the object proves nothing for another one.
func (m *Child) Becomes(mode apply.Mode, gvk schema.GroupVersionKind) {
	if m.Mode != mode {
		m.UID, m.Owned = "", OwnedFields{}
		if mode != apply.Own && mode != apply.Once {
			m.Ours = ""
		}
	}
	m.Mode, m.GVK, m.Proven = mode, gvk, false
}

// Wrote remembers a write and forgets what was proven before it.
func (m *Child) Wrote(o client.Object, now time.Time) {
	m.UID = o.GetUID()
	m.Written = freshness.Wrote(o.GetResourceVersion(), now)
	m.Deleted = ""
}

// maxRetries is how often an intent is applied again that the server does not
// take as it is.
const maxRetries = 2

// Answered learns whether the answer to an apply can be the last word about the
// intent; otherwise the same is applied again.
func (m *Child) Answered(final bool) {
	if final || m.Retries >= maxRetries {
		m.Retries = 0
		return
	}
	m.Retries++
	m.Proven = false
}

// Shown forgets our last write: the cache has it, or it says nothing any more.
func (m *Child) Shown() { m.Written = freshness.Write{} }

// NoteDeleted remembers an accepted deletion, for a cache that shows the object
// for some time yet.
func (m *Child) NoteDeleted(uid types.UID, now time.Time) {
	m.Deleted, m.deletedAt = uid, now
	m.Shown()
}

// DeletedRecently reports whether the deletion of this object was accepted so
// recently that a cache may still show it.
func (m *Child) DeletedRecently(uid types.UID, now time.Time, deadline time.Duration) bool {
	return m.Deleted != "" && m.Deleted == uid && now.Sub(m.deletedAt) < deadline
}
