package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// contestIn returns the contested fields in this situation, nil if there are none or the situation has changed.
func (m *Child) contestIn(intent uint64, uid types.UID, now time.Time) *Contest {
	if t := m.contest; t != nil && t.Intent == intent && t.UID == uid && now.Before(t.Until) {
		return t
	}
	return nil
}

// After returns the contest that follows the last one, nil for none. Each time for the same intent doubles the duration, up to limit.
func (t Contest) After(last *Contest, now time.Time, limit time.Duration) Contest {
	if last != nil && last.Intent == t.Intent {
		t.count = last.count + 1
	}
	t.Until = now.Add(Backoff(t.count, limit))
	return t
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

// Repairs are the recent repairs of a child, by the path of the field.
type Repairs struct{ counts map[string]repair }

// Next returns the number of recent repairs of a field, including one now.
func (r Repairs) Next(path string, now time.Time) int { return r.after(path, now).count }

// NextOfObject returns the number of recent repairs of any field of the object, including one now.
func (r Repairs) NextOfObject(now time.Time) int { return r.Next(anyField, now) }

func (r Repairs) after(path string, now time.Time) repair {
	next := r.counts[path]
	if next.count == 0 || now.Sub(next.since) > fightWindow {
		next = repair{since: now}
	}
	next.count++
	return next
}

// anyField is the path for the repairs of the object; no field has it.
const anyField = ""

// repaired counts a repair of a field.
func (m *Child) repaired(path string, now time.Time) {
	next := Repairs{m.repairs}.after(path, now)
	if m.repairs == nil {
		m.repairs = map[string]repair{}
	}
	m.repairs[path] = next
}

// repairedObject counts a repair of any field of the object. Above MaxObjectRepairs it continues counting until no repair was needed for
// fightWindow.
func (m *Child) repairedObject(now time.Time) {
	m.repaired(anyField, now)
	if count := m.repairs[anyField].count; count > MaxObjectRepairs {
		m.repairs[anyField] = repair{count: count, since: now}
	}
}
