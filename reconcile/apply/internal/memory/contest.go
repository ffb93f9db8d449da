package memory

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Contest is what others insist on in a child. These fields are left to them
// until the plan or their entries in the managedFields change, or for a time;
// the rest of the child is applied.
type Contest struct {
	Fields []apply.ContestedField
	// Absent are the paths of those that the plan wants absent.
	Absent []string
	// Intent, uid and managers identify the situation.
	Intent   uint64
	UID      types.UID
	Managers uint64
	// Count is how often in a row, until how long.
	Count int
	Until time.Time
}

// Stands reports whether nothing has changed that could help.
func (t *Contest) Stands(intent uint64, uid types.UID, now time.Time) bool {
	return t != nil && t.Intent == intent && t.UID == uid && now.Before(t.Until)
}

// A field of ours that is changed again after every repair belongs to somebody
// who insists: after maxRepairs within fightWindow it is reported instead. That
// holds for forced fields, too: force takes a field, it does not fight for it.
const (
	MaxRepairs  = 5
	fightWindow = time.Minute
)

// Repairs counts how often a field was repaired since a time.
type Repairs struct {
	count int
	since time.Time
}

// Repaired counts one more repair of a field.
func (m *Child) Repaired(path string, now time.Time) int {
	r := m.Repairs[path]
	if r.count == 0 || now.Sub(r.since) > fightWindow {
		r = Repairs{since: now}
	}
	r.count++
	if m.Repairs == nil {
		m.Repairs = map[string]Repairs{}
	}
	m.Repairs[path] = r
	return r.count
}
