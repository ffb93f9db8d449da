package trigger

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// RequestInterval is the minimum time between two reconciliations of an owner that only requests of users trigger.
const RequestInterval = 5 * time.Second

// Requests limits the reconciliations that users request with an annotation. It is safe for concurrent use.
type Requests struct {
	Clock clock.PassiveClock

	mu   sync.Mutex
	next map[types.NamespacedName]time.Time // of the latest reconciliation, which may be in the future
}

// Delay returns how long the reconciliation that the change triggers has to wait. Only a change of nothing but the request waits. Requests
// that arrive meanwhile share the reconciliation.
func (r *Requests) Delay(owner types.NamespacedName, c Change) time.Duration {
	if r == nil || c.Before == nil || c.After == nil || !pipeline.OnlyRequested(c.Before, c.After) {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = map[types.NamespacedName]time.Time{}
	}
	now, next := r.Clock.Now(), r.next[owner]
	switch {
	case now.Before(next): // it shares the reconciliation
	case now.Sub(next) < RequestInterval:
		next = next.Add(RequestInterval)
	default:
		next = now
	}
	r.next[owner] = next
	return next.Sub(now)
}

// Forget drops the state of a deleted owner.
func (r *Requests) Forget(owner types.NamespacedName) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.next, owner)
}
