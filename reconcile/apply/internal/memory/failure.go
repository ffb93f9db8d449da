package memory

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Succeeded forgets trouble, but not the repairs of a possible fight.
func (m *Child) Succeeded(now time.Time) {
	m.Failure = nil
	maps.DeleteFunc(m.Repairs, func(_ string, r Repairs) bool { return now.Sub(r.since) > fightWindow })
}

// Failure remembers why a child could not be applied, so that an unchanged
// plan does not send the same request again at once.
type Failure struct {
	Outcome apply.Outcome
	Err     error
	// Intent, uid and others identify the situation; another one is tried
	// at once.
	Intent uint64
	UID    types.UID
	Others uint64
	// Version is the object that was refused. Where the cache strips
	// managedFields, it stands for what others own.
	Version string
	// Count is how often it happened in a row, until when to wait.
	Count int
	Until time.Time
}

// Stands reports whether nothing has changed that could help.
func (t *Failure) Stands(intent uint64, uid types.UID, others uint64, now time.Time) bool {
	return t != nil && t.Err != nil && t.Intent == intent && t.UID == uid && t.Others == others && now.Before(t.Until)
}

// Backoff doubles from a second up to the limit.
func Backoff(count int, limit time.Duration) time.Duration {
	d := time.Second
	for range count {
		if d >= limit {
			break
		}
		d *= 2
	}
	return min(d, limit)
}
