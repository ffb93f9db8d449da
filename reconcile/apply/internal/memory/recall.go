package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// Recall is the memory of a child that applies to the live object. It is a value: what follows from it, such as Lapsed, changes the
// memory with [Changes].
type Recall struct {
	// Hidden reports that the object is older than the engine's last write; Wait is how much longer the engine waits for the cache. Shown
	// reports that the cache shows that write.
	Hidden bool
	Wait   time.Duration
	Shown  bool
	// Proven reports that the intent was proven at the last check; Same reports that this was in the live object's version. Lapsed reports
	// that the last proof no longer holds, of whichever intent.
	Proven, Same, Lapsed bool
	// Known reports that this object was seen or written before. Ours reports that it was proven to be a child of the owner. Deleted
	// reports that its deletion was accepted so recently that a cache may still show it.
	Known, Ours, Deleted bool
	// UID is the UID of the object last seen or written, OursUID that of the object that was proven to be a child of the owner.
	UID, OursUID types.UID
	// LastIntent is the hash of the last proven intent, 0 for none; Projection is the projection of that proof.
	LastIntent, Projection uint64
	// Shape is the hash of the visible values in a cache without managedFields, 0 if unknown.
	Shape uint64
	// Owned are the engine's fields when the object was last as planned.
	Owned OwnedFields
	// Contest are the contested fields; Held are the contested fields in the current situation; nil for none.
	Contest, Held *Contest
	// Failure is the last failure, nil if there is none.
	Failure *Failure
	// Repairs are the recent repairs.
	Repairs Repairs
	// Deletions is how often others have deleted a missing object, and Pause how much longer it is not recreated; zero if it may be
	// created.
	Deletions int
	Pause     time.Duration
}

// Look describes a read of an object.
type Look struct {
	Intent   uint64
	Now      time.Time
	Deadline time.Duration
	// Trust is how long an answer with other values than planned still proves the intent.
	Trust time.Duration
	// MaxPause is the maximum pause before an object that others delete is recreated.
	MaxPause time.Duration
	// Live reports that the object comes from the API server, not from a cache. Missed reports that the cache did not show it.
	Live, Missed bool
}

// Recall returns the memory that applies to the object, nil for a missing object. A cache that is not older than the last write shows that
// write. Proofs of another object do not hold.
func (m *Child) Recall(o client.Object, l Look) Recall {
	r := Recall{
		UID: m.uid, OursUID: m.ours, LastIntent: m.intent, Projection: m.projection, Shape: m.shape, Contest: m.contest,
		Failure: m.failure, Repairs: Repairs{m.repairs},
	}
	if o := m.overridden; o != nil {
		age := l.Now.Sub(o.at)
		r.Lapsed = age < 0 || age >= l.Trust // the cause of the override may be gone
	}
	if l.Missed {
		r.UID, r.Lapsed = "", true
	}
	r.Proven = m.Proves(l.Intent) && !r.Lapsed
	if !l.Live && m.written != (freshness.Write{}) {
		if m.hiddenBy(o) {
			r.Hidden, r.Wait = true, m.waitLeft(l.Now, l.Deadline)
			return r
		}
		r.Shown = o != nil
	}
	if o == nil {
		r.Deletions, r.Pause = m.lossesAfter(l.Now, l.MaxPause).leftAlone(l.Now)
		return r
	}
	uid := o.GetUID()
	r.Known, r.Ours = r.UID == uid, m.ours == uid
	r.Deleted = m.DeletedRecently(uid, l.Now, l.Deadline)
	r.Same = r.Proven && m.version == o.GetResourceVersion()
	if !r.Known && !r.Same {
		r.Lapsed, r.Proven = true, false
	}
	if m.ownedOf == uid {
		r.Owned = m.owned
	}
	r.Held = m.contestIn(l.Intent, uid, l.Now)
	return r
}

// Changes is what the memory of a child learns from a decision. The zero value changes nothing.
type Changes struct {
	// Shown reports that the cache shows the engine's last write, or that the write no longer matters. Read is the resourceVersion of a
	// live read, so that an older object in the cache is recognised as stale.
	Shown bool
	Read  string
	// Gone reports that no object exists. MaxPause is the maximum pause before it is recreated if others delete it.
	Gone     bool
	MaxPause time.Duration
	// Unproven reports that no proof holds any longer.
	Unproven bool
	// UID identifies the object that is the child; Ours reports that it was proven to belong to the owner.
	UID  types.UID
	Ours bool
	// Repaired are the paths of the fields that are repaired; RepairedObject counts a repair of the object.
	Repaired       []string
	RepairedObject bool
	// Contest replaces the contested fields; GivenUp are the paths of fields whose repairs are no longer counted.
	Contest *Contest
	GivenUp []string
	// Proof is a new proof of an intent, nil for none.
	Proof *Proof
	// Version extends the proof to this version of the object.
	Version string
	// Settled reports that nothing has to be sent and that no field is contested.
	Settled bool
	// Shape is the hash of the visible values in a cache without managedFields, 0 to keep the known one.
	Shape uint64
}

// Remember applies the changes, in the order of the fields.
func (m *Child) Remember(c *Changes, now time.Time) {
	if c.Read != "" {
		m.written = freshness.Wrote(c.Read, now)
	}
	if c.Shown {
		m.Shown()
	}
	if c.Gone {
		m.gone(now, c.MaxPause)
	}
	if c.Unproven {
		m.ForgetProof()
	}
	if c.UID != "" {
		m.uid = c.UID
		if c.Ours {
			m.ours = c.UID
		}
	}
	for _, path := range c.Repaired {
		m.repaired(path, now)
	}
	if c.RepairedObject {
		m.repairedObject(now)
	}
	if c.Contest != nil {
		m.contest = c.Contest
	}
	for _, path := range c.GivenUp {
		delete(m.repairs, path)
	}
	if c.Proof != nil {
		m.proved(*c.Proof)
	}
	if c.Version != "" {
		m.version = c.Version
	}
	if c.Settled {
		m.contest = nil
		m.Succeeded(now)
	}
	if c.Shape != 0 {
		m.shape = c.Shape
	}
}

// gone notes that no object exists, and counts a deletion by others.
func (m *Child) gone(now time.Time, maxPause time.Duration) {
	m.ForgetProof()
	m.Shown()
	m.losses = m.lossesAfter(now, maxPause)
	m.uid = ""
}

// Proof is the proof of an intent: the engine's fields and their projection in a version of the object.
type Proof struct {
	Intent     uint64
	Version    string
	Projection uint64
	Owned      OwnedFields
}

func (m *Child) proved(p Proof) {
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
	m.proved(Proof{Intent: a.Intent, Version: a.Object.GetResourceVersion(), Projection: a.Projection, Owned: a.Owned})
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
