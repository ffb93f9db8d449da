package memory

import (
	"maps"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// GVK is the kind in the version of the last plan.
func (m *Child) GVK() schema.GroupVersionKind {
	if m.gvk == (unique.Handle[schema.GroupVersionKind]{}) {
		return schema.GroupVersionKind{}
	}
	return m.gvk.Value()
}

// Mode is that of the last plan.
func (m *Child) Mode() apply.Mode { return m.mode }

// UID is the object last seen or written, empty if none is known to exist.
func (m *Child) UID() types.UID { return m.uid }

// Version is the resourceVersion in which the intent was proven last.
func (m *Child) Version() string { return m.version }

// Ours is the object that was proven to be a child of the owner, empty for none.
func (m *Child) Ours() types.UID { return m.ours }

// Owned are the fields that were ours when the object was last right.
func (m *Child) Owned() OwnedFields { return m.owned }

// Planned notes that a pass plans the child, in a mode and a version. What one
// mode has shown about the object proves nothing for another one. It reports
// false if the pass has planned it already.
func (m *Child) Planned(pass uint64, mode apply.Mode, gvk schema.GroupVersionKind) bool {
	if m.pass == pass {
		return false
	}
	if m.mode != mode || m.GVK() != gvk {
		m.becomes(mode, gvk)
	}
	if m.last+1 != pass {
		m.since = pass
	}
	m.pass, m.last = pass, pass
	return true
}

func (m *Child) becomes(mode apply.Mode, gvk schema.GroupVersionKind) {
	if m.mode != mode {
		m.uid, m.owned, m.ownedOf = "", OwnedFields{}, ""
		if mode != apply.Own && mode != apply.Once {
			m.ours = ""
		}
	}
	m.mode, m.gvk, m.proven = mode, unique.Make(gvk), false
}

// PlannedOwner notes that a pass plans a part of the owner itself.
func (m *Child) PlannedOwner(pass uint64, gvk schema.GroupVersionKind, uid types.UID) {
	m.mode, m.gvk, m.uid, m.pass = apply.Contribute, unique.Make(gvk), uid, pass
}

// InPass reports whether the pass has planned the child, or deleted it.
func (m *Child) InPass(pass uint64) bool { return m.pass == pass }

// PlannedBeside reports whether a plan of this process has named the child
// beside another one.
func (m *Child) PlannedBeside(other *Child) bool { return other.last >= m.since }

// Surplus notes in which version an object that is not planned is deleted.
func (m *Child) Surplus(gvk schema.GroupVersionKind) { m.gvk = unique.Make(gvk) }

// Accept remembers that the intent is true in this version.
func (m *Child) Accept(intent uint64, version string) {
	m.proven, m.intent, m.version = true, intent, version
}

// Proves reports whether the intent was true when the child was last looked at.
func (m *Child) Proves(intent uint64) bool { return m.proven && m.intent == intent }

// provesIn reports whether the intent is known to be true in this version.
func (m *Child) provesIn(intent uint64, version string) bool {
	return m.Proves(intent) && m.version == version
}

// ProvesProjection reports whether the intent was true with the same fields.
func (m *Child) ProvesProjection(intent, projection uint64) bool {
	return m.Proves(intent) && m.projection == projection
}

// ProvesShape reports whether the intent was true with the same visible values,
// and nobody contests any.
func (m *Child) ProvesShape(intent, shape uint64) bool {
	return m.Proves(intent) && m.shape == shape && m.contest == nil
}

// Proven reports whether any intent is known to be true.
func (m *Child) Proven() bool { return m.proven }

// ForgetProof notes that what was proven may not hold any more.
func (m *Child) ForgetProof() { m.proven = false }

// StillIn notes that what was proven holds in a later version, too.
func (m *Child) StillIn(version string) { m.version = version }

// Projects remembers the hash of our fields.
func (m *Child) Projects(projection uint64) { m.projection = projection }

// Owns remembers which fields are ours in the object that exists.
func (m *Child) Owns(fields OwnedFields) { m.owned, m.ownedOf = fields, m.uid }

// Shows remembers the hash of what a cache without managedFields shows.
func (m *Child) Shows(shape uint64) { m.shape = shape }

// ShapeKnown reports whether that is known.
func (m *Child) ShapeKnown() bool { return m.shape != 0 }

// Seen notes which object exists. What was proven of another one is forgotten.
func (m *Child) Seen(uid types.UID) { m.uid = uid }

// Known reports whether this object was seen or written before.
func (m *Child) Known(uid types.UID) bool { return m.uid == uid }

// ProvenOurs notes that the object is a child of the owner.
func (m *Child) ProvenOurs(uid types.UID) { m.ours = uid }

// Wrote remembers a write and forgets what was proven before it.
func (m *Child) Wrote(o client.Object, now time.Time) {
	m.uid = o.GetUID()
	m.written = freshness.Wrote(o.GetResourceVersion(), now)
	m.deleted = nil
}

// Read remembers the version that was read live: a cache that shows an older one
// is stale.
func (m *Child) Read(o client.Object, now time.Time) {
	m.written = freshness.Wrote(o.GetResourceVersion(), now)
}

// hiddenBy reports whether the cached object is older than our last write.
func (m *Child) hiddenBy(cached client.Object) bool { return m.written.HiddenBy(cached) }

// Pending reports whether the cache has not shown our last write yet.
func (m *Child) Pending() bool { return m.written.Pending() }

// waitLeft is how much longer a stale cache is waited for.
func (m *Child) waitLeft(now time.Time, deadline time.Duration) time.Duration {
	return m.written.Left(now, deadline)
}

// Shown forgets our last write: the cache has it, or it says nothing any more.
func (m *Child) Shown() { m.written = freshness.Write{} }

// maxRetries is how often an intent is applied again that the server does not
// take as it is.
const maxRetries = 2

// answered learns whether the answer to an apply can be the last word about the
// intent; otherwise the same is applied again.
func (m *Child) answered(final bool) {
	if final || m.retries >= maxRetries {
		m.retries = 0
		return
	}
	m.retries++
	m.proven = false
}

// Replaced notes that the object that was written is another one or gone.
func (m *Child) Replaced() {
	m.uid = ""
	m.Shown()
}

// NoteDeleted remembers an accepted deletion, for a cache that shows the object
// for some time yet.
func (m *Child) NoteDeleted(uid types.UID, now time.Time) {
	m.deleted = &deletion{uid: uid, at: now}
	m.Shown()
}

// DeletedIn notes that a pass has deleted an object that is not planned, or
// waits for that.
func (m *Child) DeletedIn(pass uint64) { m.pass = pass }

// Deleting reports whether a deletion was accepted and nothing written since.
func (m *Child) Deleting() bool { return m.deleted != nil }

// WasDeleted reports whether the deletion of this object was accepted.
func (m *Child) WasDeleted(uid types.UID) bool {
	return m.deleted != nil && m.deleted.uid == uid
}

// DeletedRecently reports whether the deletion of this object was accepted so
// recently that a cache may still show it.
func (m *Child) DeletedRecently(uid types.UID, now time.Time, deadline time.Duration) bool {
	return m.WasDeleted(uid) && now.Sub(m.deleted.at) < deadline
}

// clone is a copy that can be changed.
func (m *Child) clone() *Child {
	out := *m
	if m.failure != nil {
		f := *m.failure
		out.failure = &f
	}
	out.repairs = maps.Clone(m.repairs)
	if m.losses != nil {
		l := *m.losses
		out.losses = &l
	}
	return &out
}
