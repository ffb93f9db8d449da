package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Contest returns what is left to others, nil if nothing is.
func (m *Child) Contest() *Contest { return m.contest }

// contestIn returns what is left to others in this situation, nil if nothing
// is, or if something has changed that could help.
func (m *Child) contestIn(intent uint64, uid types.UID, now time.Time) *Contest {
	if t := m.contest; t != nil && t.Intent == intent && t.UID == uid && now.Before(t.Until) {
		return t
	}
	return nil
}

// Contested leaves fields to others from now on: each time for the same intent
// twice as long, at most limit.
func (m *Child) Contested(t Contest, now time.Time, limit time.Duration) {
	if last := m.contest; last != nil && last.Intent == t.Intent {
		t.count = last.count + 1
	}
	t.Until = now.Add(Backoff(t.count, limit))
	m.contest = &t
}

// ContestedUntil leaves the contested fields to others until then.
func (m *Child) ContestedUntil(until time.Time) { m.contest.Until = until }

// StillContested notes that only these fields are contested any more. It
// reports false if none were.
func (m *Child) StillContested(fields []apply.ContestedField) bool {
	if m.contest == nil {
		return false
	}
	t := *m.contest
	t.Fields = fields
	m.contest = &t
	return true
}

// A field of ours that is changed again after every repair belongs to somebody
// who insists: after MaxRepairs within fightWindow it is reported instead. That
// holds for forced fields, too: force takes a field, it does not fight for it.
const (
	MaxRepairs = 5
	// MaxObjectRepairs is the same for all fields of an object: another writer may change another field, or the managedFields, each time.
	MaxObjectRepairs = 10
	fightWindow      = time.Minute
)

// Repaired counts one more repair of a field.
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

// RepairedAny counts one more repair of the object, whichever field it is of.
// Above MaxObjectRepairs it counts on until nothing had to be repaired for fightWindow.
func (m *Child) RepairedAny(now time.Time) int {
	count := m.Repaired(anyField, now)
	if count > MaxObjectRepairs {
		m.repairs[anyField] = repair{count: count, since: now}
	}
	return count
}

// anyField is the path that the repairs of the object are counted under: no field has it.
const anyField = ""

// ForgetRepairs starts to count anew.
func (m *Child) ForgetRepairs(path string) { delete(m.repairs, path) }
