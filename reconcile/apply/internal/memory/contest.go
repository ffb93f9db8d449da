package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Contest returns the contested fields, nil if there are none.
func (m *Child) Contest() *Contest { return m.contest }

// contestIn returns the contested fields in this situation, nil if there are none or the situation has changed.
func (m *Child) contestIn(intent uint64, uid types.UID, now time.Time) *Contest {
	if t := m.contest; t != nil && t.Intent == intent && t.UID == uid && now.Before(t.Until) {
		return t
	}
	return nil
}

// Contested leaves fields to other managers. Each time for the same intent doubles the duration, up to limit.
func (m *Child) Contested(t Contest, now time.Time, limit time.Duration) {
	if last := m.contest; last != nil && last.Intent == t.Intent {
		t.count = last.count + 1
	}
	t.Until = now.Add(Backoff(t.count, limit))
	m.contest = &t
}

// ContestedUntil sets the end of the current contest.
func (m *Child) ContestedUntil(until time.Time) { m.contest.Until = until }

// StillContested limits the contest to these fields. It returns false if there was no contest.
func (m *Child) StillContested(fields []apply.ContestedField) bool {
	if m.contest == nil {
		return false
	}
	t := *m.contest
	t.Fields = fields
	m.contest = &t
	return true
}

// If a field of the engine is changed again after each of MaxRepairs repairs within fightWindow, another manager insists on it, and it is
// reported instead. That includes forced fields: force takes a field, but does not fight for it.
const (
	MaxRepairs = 5
	// MaxObjectRepairs is the limit for all fields of an object, because another writer may change another field, or the managedFields,
	// each time.
	MaxObjectRepairs = 10
	fightWindow      = time.Minute
)

// Repaired counts a repair of a field and returns the count.
func (m *Child) Repaired(path string, now time.Time) int {
	r := m.repairs[path]
	if r.count == 0 || now.Sub(r.since) > fightWindow {
		r = repair{since: now}
	}
	r.count++
	if m.repairs == nil {
		m.repairs = map[string]repair{}
	}
	m.repairs[path] = r
	return r.count
}

// RepairedAny counts a repair of any field of the object and returns the count. Above MaxObjectRepairs it continues counting until no
// repair was needed for fightWindow.
func (m *Child) RepairedAny(now time.Time) int {
	count := m.Repaired(anyField, now)
	if count > MaxObjectRepairs {
		m.repairs[anyField] = repair{count: count, since: now}
	}
	return count
}

// anyField is the path for the repairs of the object; no field has it.
const anyField = ""

// ForgetRepairs resets the count.
func (m *Child) ForgetRepairs(path string) { delete(m.repairs, path) }
