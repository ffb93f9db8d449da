package status

import (
	"encoding/json"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusedInterval is how long a change that the API server took without storing it is not sent again.
const refusedInterval = 5 * time.Minute

// refusals remember for each owner which change of its status the API server did not store, such as a field that the schema
// of its CRD does not have. The zero value is empty.
type refusals struct {
	mu     sync.Mutex
	owners map[types.UID]refusal
}

type refusal struct {
	patch string
	at    time.Time
}

// holds reports whether the change is one that was sent in vain a short while ago.
func (r *refusals) holds(owner client.Object, patch map[string]any, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.owners[owner.GetUID()]
	if !known || now.Sub(last.at) >= refusedInterval {
		return false
	}
	data, err := json.Marshal(patch)
	return err == nil && string(data) == last.patch
}

// note remembers what a write left undone; an empty patch is nothing. It reports whether that is new.
func (r *refusals) note(owner client.Object, patch map[string]any, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.owners[owner.GetUID()]
	delete(r.owners, owner.GetUID())
	if len(patch) == 0 {
		return false
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return false
	}
	for uid, other := range r.owners {
		if now.Sub(other.at) >= refusedInterval {
			delete(r.owners, uid)
		}
	}
	if r.owners == nil {
		r.owners = map[types.UID]refusal{}
	}
	r.owners[owner.GetUID()] = refusal{patch: string(data), at: now}
	return string(data) != last.patch
}
