package settings

import (
	"context"
	"reflect"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Readers tracks which owners of one controller have read settings. It is an event source for that controller, see the builder's
// WatchesSource.
type Readers[T any] struct {
	live  *Live[T]
	queue workqueue.TypedRateLimitingInterface[ctrl.Request]
	seen  map[ctrl.Request]changed[T] // by owner
}

// changed reports whether a value differs from the one that a reader has read.
type changed[T any] func(value T) bool

// Readers returns new readers. Each controller needs its own.
func (l *Live[T]) Readers() *Readers[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &Readers[T]{live: l, seen: map[ctrl.Request]changed[T]{}}
	l.readers = append(l.readers, r)
	return r
}

// Start implements the event source of controller-runtime.
func (r *Readers[T]) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	r.queue = queue
	return nil
}

// String names the source in the log.
func (r *Readers[T]) String() string {
	return "settings of ConfigMap " + r.live.source.ConfigMap.String()
}

// Read returns the owner's projection of the settings, and enqueues the owner once when that changes; the next reconciliation reads
// again. A later read of the same owner replaces the earlier one, so read once per reconciliation. project is a pure function. Its value
// may share memory with the settings and must not be modified; values are compared by content. The read of a deleted owner is dropped at
// the first change of its value.
func Read[T, V any](r *Readers[T], owner ctrl.Request, project func(T) V) V {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	value := project(r.live.value)
	r.seen[owner] = func(now T) bool { return !reflect.DeepEqual(project(now), value) }
	return value
}

// enqueue enqueues the owners whose value changed and drops their reads.
func (r *Readers[T]) enqueue(value T) {
	for owner, differs := range r.seen {
		if !differs(value) {
			continue
		}
		delete(r.seen, owner)
		if r.queue != nil {
			r.queue.Add(owner)
		}
	}
}
