package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// trouble remembers why a child could not be applied, so that an unchanged
// plan does not send the same request again at once.
type trouble struct {
	outcome apply.Outcome
	err     error
	// intent, uid and others identify the situation; another one is tried
	// at once.
	intent uint64
	uid    types.UID
	others uint64
	// version is the object that was refused. Where the cache strips
	// managedFields, it stands for what others own.
	version string
	// count is how often it happened in a row, until when to wait.
	count int
	until time.Time
}

// stands reports whether nothing has changed that could help.
func (t *trouble) stands(intent uint64, uid types.UID, others uint64, now time.Time) bool {
	return t != nil && t.err != nil && t.intent == intent && t.uid == uid && t.others == others && now.Before(t.until)
}

// backoff doubles from a second up to the limit.
func backoff(count int, limit time.Duration) time.Duration {
	d := time.Second
	for range count {
		if d >= limit {
			break
		}
		d *= 2
	}
	return min(d, limit)
}
