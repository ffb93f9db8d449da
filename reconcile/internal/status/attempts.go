package status

import (
	"encoding/json"
	"hash/fnv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// retryInterval is how long an ineffective change is not sent again.
	retryInterval = 5 * time.Minute
	// maxRepeats is how often within retryInterval the same change is sent again because another writer reverts it.
	maxRepeats = 5
)

// attempts stores the last status change of each owner, so that two kinds of changes are not sent repeatedly: one that the API server
// does not store, such as a field that is missing in the schema of the CRD, and one that another writer reverts each time. The zero value
// is empty.
type attempts struct {
	mu     sync.Mutex
	owners map[types.UID]attempt
	swept  time.Time
}

type attempt struct {
	sent    uint64    // the last change
	since   time.Time // the time of the first attempt
	repeats int       // number of repetitions since
	refused uint64    // the part that the API server did not store, zero for none
}

// holds reports whether to suppress the change now, and whether that is because another writer reverts it each time.
func (a *attempts) holds(owner client.Object, patch map[string]any, now time.Time) (held, contested bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, known := a.owners[owner.GetUID()]
	if !known || now.Sub(last.since) >= retryInterval {
		return false, false
	}
	key := attemptKey(patch)
	contested = key == last.sent && last.repeats >= maxRepeats
	return contested || key == last.refused, contested
}

// note records a change and the part that the response lacks. It reports whether that part is new.
func (a *attempts) note(owner client.Object, patch, missing map[string]any, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep(now)
	last := a.owners[owner.GetUID()]
	next := attempt{sent: attemptKey(patch), since: now, repeats: 1}
	if last.sent == next.sent {
		next.since, next.repeats = last.since, last.repeats+1
	}
	if len(missing) > 0 {
		next.refused, next.since = attemptKey(missing), now
	}
	if a.owners == nil {
		a.owners = map[types.UID]attempt{}
	}
	a.owners[owner.GetUID()] = next
	return next.refused != 0 && next.refused != last.refused
}

// sweep drops expired entries, once in an interval.
func (a *attempts) sweep(now time.Time) {
	if now.Sub(a.swept) < retryInterval {
		return
	}
	a.swept = now
	for uid, other := range a.owners {
		if now.Sub(other.since) >= retryInterval {
			delete(a.owners, uid)
		}
	}
}

// attemptKey identifies a change and is not zero. It ignores the times of conditions, which differ with each attempt.
func attemptKey(patch map[string]any) uint64 {
	h := fnv.New64a()
	if err := json.NewEncoder(h).Encode(withoutTimes(patch)); err != nil {
		return 1 // a change that cannot be encoded is not sent
	}
	return h.Sum64() | 1
}

func withoutTimes(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			if name != "lastTransitionTime" {
				out[name] = withoutTimes(below)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutTimes(v[i])
		}
		return out
	}
	return value
}
