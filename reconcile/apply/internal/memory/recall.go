package memory

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// Recall is what is remembered of a child and matters for the object that was
// read.
type Recall struct {
	// Hidden reports that the object is older than our last write, Wait is how
	// much longer a stale cache is waited for.
	Hidden bool
	Wait   time.Duration
	// Proven reports that the intent was true when the child was last looked at,
	// Same that this was in the version that was read.
	Proven, Same bool
	// Known reports that this object was seen or written before, Ours that it was
	// proven to be a child of the owner, Deleted that its deletion was accepted so
	// recently that a cache may still show it.
	Known, Ours, Deleted bool
	// LastIntent is the hash of the intent that was true last, 0 for none,
	// Projection that of our fields with it.
	LastIntent, Projection uint64
	// Owned are our fields in the object when it was last right.
	Owned OwnedFields
	// Contest is what is left to others, Held the same if it is in this
	// situation; nil for nothing.
	Contest, Held *Contest
	// Failed reports that something is remembered that has failed.
	Failed bool
}

// Look is a look at an object.
type Look struct {
	Intent   uint64
	Now      time.Time
	Deadline time.Duration
	// Trust is how long an answer proves an intent that it does not agree with.
	Trust time.Duration
	// Live reports that the object comes from the API server, not from a cache.
	Live bool
}

// Recall returns what matters for the object that was read, nil for none. A
// cache that is not older than our last write shows that write; what was proven
// of another object is forgotten.
func (m *Child) Recall(o client.Object, l Look) Recall {
	if o := m.overridden; o != nil {
		if age := l.Now.Sub(o.at); age < 0 || age >= l.Trust {
			m.proven = false // who has overridden it may have gone
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

// Claimed notes which object is the child, and whether it was proven to be one
// of the owner's.
func (m *Child) Claimed(o client.Object, proven bool) {
	m.uid = o.GetUID()
	if proven {
		m.ours = m.uid
	}
}

// Gone notes that no object exists. It returns how often others have deleted it,
// and how much longer it is not made for that, at most limit; zero if it may be
// made.
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

// Settled notes that nothing has to be sent and that nobody contests anything.
func (m *Child) Settled(now time.Time) {
	m.contest = nil
	m.Succeeded(now)
}

// Proof is why an intent is true: our fields, and what they are in a version of
// the object.
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

// overridden is an answer that has other values than planned.
type overridden struct {
	at     time.Time
	fields []apply.FieldChange
}

// Overridden returns the planned fields that have other values in the last
// answer, none if it has the planned ones.
func (m *Child) Overridden() []apply.FieldChange {
	if m.overridden == nil {
		return nil
	}
	return m.overridden.fields
}

// Answer is what an apply was answered.
type Answer struct {
	Object client.Object
	Intent uint64
	// Owned are our fields in it.
	Owned OwnedFields
	// Made reports that the apply has made the object, Unchanged that it has
	// changed nothing.
	Made, Unchanged bool
	// Member reports that the object carries the part-of label now.
	Member bool
	// Read reports that the answer could be compared, Projection is the hash of
	// our fields in it, and Final reports that it can be the last word about the
	// intent.
	Read, Final bool
	Projection  uint64
	// Overridden reports that planned fields have other values in the answer,
	// OverriddenFields are the first of them.
	Overridden       bool
	OverriddenFields []apply.FieldChange
	// Contested reports that fields are left to others.
	Contested bool
}

// Learn remembers the answer to an apply.
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
