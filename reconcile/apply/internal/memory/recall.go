package memory

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// Recall is the memory of a child that applies to the live object.
type Recall struct {
	// Hidden reports that the object is older than the engine's last write; Wait is how much longer the engine waits for the cache.
	Hidden bool
	Wait   time.Duration
	// Proven reports that the intent was proven at the last check; Same reports that this was in the live object's version.
	Proven, Same bool
	// Known reports that this object was seen or written before. Ours reports that it was proven to be a child of the owner. Deleted
	// reports that its deletion was accepted so recently that a cache may still show it.
	Known, Ours, Deleted bool
	// LastIntent is the hash of the last proven intent, 0 for none; Projection is the projection of that proof.
	LastIntent, Projection uint64
	// Owned are the engine's fields when the object was last as planned.
	Owned OwnedFields
	// Contest are the contested fields; Held are the contested fields in the current situation; nil for none.
	Contest, Held *Contest
	// Failed reports that a failure is remembered.
	Failed bool
}

// Look describes a read of an object.
type Look struct {
	Intent   uint64
	Now      time.Time
	Deadline time.Duration
	// Trust is how long an answer with other values than planned still proves the intent.
	Trust time.Duration
	// Live reports that the object comes from the API server, not from a cache.
	Live bool
}

// Recall returns the memory that applies to the object, nil for a missing object. A cache that is not older than the last write shows that
// write. Proofs of another object are discarded.
func (m *Child) Recall(o client.Object, l Look) Recall {
	if o := m.overridden; o != nil {
		if age := l.Now.Sub(o.at); age < 0 || age >= l.Trust {
			m.proven = false // the cause of the override may be gone
		}
	}
	r := Recall{
		LastIntent: m.intent, Projection: m.projection, Contest: m.contest, Failed: m.failure != nil,
	}
	if m.written != (freshness.Write{}) && m.hiddenBy(o) {
		r.Hidden, r.Wait, r.Proven = true, m.waitLeft(l.Now, l.Deadline), m.Proves(l.Intent)
		return r
	}
	if o == nil {
		r.Proven = m.Proves(l.Intent)
		return r
	}
	if !l.Live {
		m.Shown()
	}
	uid, version := o.GetUID(), o.GetResourceVersion()
	r.Known, r.Ours = m.Known(uid), m.ours == uid
	r.Deleted = m.DeletedRecently(uid, l.Now, l.Deadline)
	if r.Same = m.provesIn(l.Intent, version); !r.Known && !r.Same {
		m.proven = false
	}
	r.Proven = m.Proves(l.Intent)
	if m.ownedOf == uid {
		r.Owned = m.owned
	}
	r.Held = m.contestIn(l.Intent, uid, l.Now)
	return r
}

// Claimed notes which object is the child, and whether it was proven to belong to the owner.
func (m *Child) Claimed(o client.Object, proven bool) {
	m.uid = o.GetUID()
	if proven {
		m.ours = m.uid
	}
}

// Gone notes that no object exists. It returns how often others have deleted it, and the remaining pause before it is recreated, at most
// limit; zero if it may be created.
func (m *Child) Gone(now time.Time, limit time.Duration) (times int, rest time.Duration) {
	m.ForgetProof()
	m.Shown()
	m.lost(now, limit)
	m.uid = ""
	return m.leftAlone(now)
}

// Right notes that the object is as planned in this version.
func (m *Child) Right(version string, now time.Time) {
	m.version = version
	m.Settled(now)
}

// Settled notes that nothing has to be sent and that no field is contested.
func (m *Child) Settled(now time.Time) {
	m.contest = nil
	m.Succeeded(now)
}

// Proof is the proof of an intent: the engine's fields and their projection in a version of the object.
type Proof struct {
	Intent     uint64
	Version    string
	Projection uint64
	Owned      OwnedFields
}

// Proved remembers a proof.
func (m *Child) Proved(p Proof) {
	m.Accept(p.Intent, p.Version)
	m.projection, m.overridden = p.Projection, nil
	m.Owns(p.Owned)
}

// overridden is an answer with other values than planned.
type overridden struct {
	at     time.Time
	fields []apply.FieldChange
}

// Overridden returns the planned fields that have other values in the last answer, none if all agree.
func (m *Child) Overridden() []apply.FieldChange {
	if m.overridden == nil {
		return nil
	}
	return m.overridden.fields
}

// Answer is the response to an apply.
type Answer struct {
	Object client.Object
	Intent uint64
	// Owned are the engine's fields in the answer.
	Owned OwnedFields
	// Made reports that the apply has created the object; Unchanged reports that it has changed nothing.
	Made, Unchanged bool
	// Member reports that the object carries the part-of label.
	Member bool
	// Read reports that the answer could be compared. Projection is the hash of the engine's fields in it. Final reports that another
	// apply would not change the result.
	Read, Final bool
	Projection  uint64
	// Overridden reports that planned fields have other values in the answer; OverriddenFields are the first of them.
	Overridden       bool
	OverriddenFields []apply.FieldChange
	// Contested reports that fields are left to other managers.
	Contested bool
}

// Learn updates the memory with the answer to an apply.
func (m *Child) Learn(a Answer, now time.Time) {
	if a.Made {
		m.Made(now)
	}
	m.Wrote(a.Object, now)
	if a.Member {
		m.ours = m.uid
	}
	if a.Unchanged {
		m.Shown()
	}
	m.Proved(Proof{Intent: a.Intent, Version: a.Object.GetResourceVersion(), Projection: a.Projection, Owned: a.Owned})
	m.shape = 0
	if a.Overridden {
		m.overridden = &overridden{at: now, fields: a.OverriddenFields}
	}
	if a.Read {
		m.answered(a.Final)
	}
	if !a.Contested {
		m.contest = nil
	}
	m.Succeeded(now)
}
