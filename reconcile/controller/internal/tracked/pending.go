package tracked

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// write is one write of a pass that the cache may not show yet.
type write struct {
	kind    *declaration.Kind
	key     types.NamespacedName
	uid     types.UID
	version string // empty for a deletion
}

// PendingWrites defers the pass of an owner while the cache does not show the writes of the pass before, so that no pass
// decides on a state that the owner's own writes have replaced. It covers writes of declared kinds by the engine,
// in any representation and with any selector. Every wait ends at the deadline.
type PendingWrites struct {
	Deadline time.Duration
	cached   func(w write) (client.Object, error) // returns the cached object, nil if the cache does not have it
	mu       sync.Mutex
	pending  map[types.NamespacedName]waiting
}

type waiting struct {
	since  time.Time
	writes []write
}

// NewPendingWrites returns an empty PendingWrites. A deadline of zero means that of package freshness, a negative one disables waiting.
func NewPendingWrites(deadline time.Duration) *PendingWrites {
	if deadline == 0 {
		deadline = freshness.Deadline
	}
	return &PendingWrites{Deadline: deadline, pending: map[types.NamespacedName]waiting{}}
}

// wrote records the writes of a pass.
func (l *PendingWrites) wrote(owner types.NamespacedName, now time.Time, writes []write) {
	if l.Deadline < 0 || len(writes) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending[owner] = waiting{since: now, writes: append(l.pending[owner].writes, writes...)}
}

// Behind reports whether the cache lags behind the writes of the owner, and whether the wait has expired.
func (l *PendingWrites) Behind(owner types.NamespacedName, now time.Time) (behind, expired bool) {
	l.mu.Lock()
	w, known := l.pending[owner]
	l.mu.Unlock()
	if !known {
		return false, false
	}
	left := w.writes[:0:0]
	for _, write := range w.writes {
		if !l.shown(owner, write) {
			left = append(left, write)
		}
	}
	expired = len(left) > 0 && now.Sub(w.since) >= l.Deadline
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(left) == 0 || expired {
		delete(l.pending, owner)
		return false, expired
	}
	l.pending[owner] = waiting{since: w.since, writes: left}
	return true, false
}

// shown reports whether the cache shows a write of the owner's pass or a later change.
func (l *PendingWrites) shown(owner types.NamespacedName, w write) bool {
	if w.version != "" && w.kind.Seen.Reached(w.key.Namespace, w.version) {
		return true
	}
	if w.kind.Absent.Load() {
		return true
	}
	object, err := l.cached(w)
	if err != nil {
		return false
	}
	if w.version == "" { // the cache shows a deletion when the object is gone, replaced, or terminating
		return object == nil || object.GetUID() != w.uid || !object.GetDeletionTimestamp().IsZero()
	}
	if object == nil {
		// The pass read its owner from the cache before it wrote to it: the owner was deleted since.
		return w.key == owner && w.kind.Has(declaration.PurposeFor)
	}
	return !freshness.Older(object.GetResourceVersion(), w.version)
}

// forget drops the writes of a deleted owner.
func (l *PendingWrites) forget(owner types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, owner)
}

// cachesChild reports whether the filter of the kind's cache selects the child, as far as its planned labels show.
func cachesChild(k *declaration.Kind, key types.NamespacedName, children []child) bool {
	if k.Filter == nil {
		return true
	}
	return slices.ContainsFunc(children, func(c child) bool {
		return c.kind == k && c.key == key && k.Filter.Matches(key, labels.Set(c.labels))
	})
}
