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

// GVK returns the kind in the API version of the last plan.
func (m *Child) GVK() schema.GroupVersionKind {
	if m.gvk == (unique.Handle[schema.GroupVersionKind]{}) {
		return schema.GroupVersionKind{}
	}
	return m.gvk.Value()
}

// Mode returns the mode of the last plan.
func (m *Child) Mode() apply.Mode { return m.mode }

// UID returns the UID of the object last seen or written, empty if none is known to exist.
func (m *Child) UID() types.UID { return m.uid }

// Version returns the resourceVersion of the last proof of the intent.
func (m *Child) Version() string { return m.version }

// Ours returns the UID of the object that was proven to be a child of the owner, empty for none.
func (m *Child) Ours() types.UID { return m.ours }

// Owned returns the engine's fields when the object was last as planned.
func (m *Child) Owned() OwnedFields { return m.owned }

// Planned notes that a pass plans the child in a mode and an API version. Proofs of another mode are discarded. It returns false if the
// pass has planned the child already.
func (m *Child) Planned(pass uint32, mode apply.Mode, gvk schema.GroupVersionKind) bool {
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

// PlannedOwner notes that a pass plans metadata of the owner.
func (m *Child) PlannedOwner(pass uint32, gvk schema.GroupVersionKind, uid types.UID) {
	m.mode, m.gvk, m.uid, m.pass = apply.Contribute, unique.Make(gvk), uid, pass
}

// InPass reports whether the pass has planned or deleted the child.
func (m *Child) InPass(pass uint32) bool { return m.pass == pass }

// PlannedBeside reports whether a plan of this process has named both children.
func (m *Child) PlannedBeside(other *Child) bool { return other.last >= m.since }

// Surplus notes the API version in which an unplanned object is deleted.
func (m *Child) Surplus(gvk schema.GroupVersionKind) { m.gvk = unique.Make(gvk) }

// Accept remembers that the object has the intent in this version.
func (m *Child) Accept(intent uint64, version string) {
	m.proven, m.intent, m.version = true, intent, version
}

// Proves reports whether the object had the intent at the last check.
func (m *Child) Proves(intent uint64) bool { return m.proven && m.intent == intent }

// ProvesProjection reports whether the intent was proven with the same projection.
func (m *Child) ProvesProjection(intent, projection uint64) bool {
	return m.Proves(intent) && m.projection == projection
}

// ForgetProof discards the proof.
func (m *Child) ForgetProof() { m.proven = false }

// Projects remembers the projection.
func (m *Child) Projects(projection uint64) { m.projection = projection }

// Owns remembers the engine's fields in the existing object.
func (m *Child) Owns(fields OwnedFields) { m.owned, m.ownedOf = fields, m.uid }

// Seen notes the UID of the existing object. Proofs of another object are discarded.
func (m *Child) Seen(uid types.UID) { m.uid = uid }

// Known reports whether this object was seen or written before.
func (m *Child) Known(uid types.UID) bool { return m.uid == uid }

// FoundNoProof notes that a live read of the object in this version found no proof that it is a child of the owner.
func (m *Child) FoundNoProof(version string) { m.unprovenAt = unique.Make(version) }

// LacksProof reports whether a live read of the object in this version has found no proof.
func (m *Child) LacksProof(version string) bool { return m.unprovenAt == unique.Make(version) }

// ProvenOurs notes that the object is a child of the owner.
func (m *Child) ProvenOurs(uid types.UID) { m.ours = uid }

// Wrote remembers a write and discards earlier proofs.
func (m *Child) Wrote(o client.Object, now time.Time) {
	m.uid = o.GetUID()
	m.written = freshness.Wrote(o.GetResourceVersion(), now)
	m.deleted = nil
}

// hiddenBy reports whether the cached object is older than the engine's last write.
func (m *Child) hiddenBy(cached client.Object) bool { return m.written.HiddenBy(cached) }

// Pending reports whether the cache does not show the engine's last write yet.
func (m *Child) Pending() bool { return m.written.Pending() }

// waitLeft returns how much longer the engine waits for a stale cache.
func (m *Child) waitLeft(now time.Time, deadline time.Duration) time.Duration {
	return m.written.Left(now, deadline)
}

// Shown forgets the last write, because the cache has it or it no longer matters.
func (m *Child) Shown() { m.written = freshness.Write{} }

// maxRetries is the maximum number of repeated applies of an intent that the server changes.
const maxRetries = 2

// answered notes whether the answer to an apply is final; otherwise the same intent is applied again.
func (m *Child) answered(final bool) {
	if final || m.retries >= maxRetries {
		m.retries = 0
		return
	}
	m.retries++
	m.proven = false
}

// Replaced notes that the written object is gone or replaced.
func (m *Child) Replaced() {
	m.uid = ""
	m.Shown()
}

// NoteDeleted remembers an accepted deletion, because a cache may still show the object.
func (m *Child) NoteDeleted(uid types.UID, now time.Time) {
	m.deleted = &deletion{uid: uid, at: now}
	m.Shown()
}

// DeletedIn notes that a pass has deleted an unplanned object or waits for its deletion.
func (m *Child) DeletedIn(pass uint32) { m.pass = pass }

// Deleting reports whether a deletion was accepted and nothing was written since.
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

// clone returns a copy that can be changed.
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
