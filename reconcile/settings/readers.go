package settings

import (
	"context"
	"reflect"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Readers are the owners of one controller that have read settings. They are a source of its events, see the builder's WatchesSource.
type Readers[T any] struct {
	live  *Live[T]
	queue workqueue.TypedRateLimitingInterface[ctrl.Request]
	seen  map[ctrl.Request]changed[T] // by owner
}

// changed reports whether a reader sees something else in the settings than what it has read.
type changed[T any] func(value T) bool

// Readers returns the readers of a controller; each controller has its own.
func (l *Live[T]) Readers() *Readers[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &Readers[T]{live: l, seen: map[ctrl.Request]changed[T]{}}
	l.readers = append(l.readers, r)
	return r
}

// Start implements the source of events; controller-runtime calls it.
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

// Read returns what the owner needs of the settings, and wakes it once when that changes; the pass that follows reads again. A pass reads
// once, all that it needs: a read takes the place of the one before. Project is a pure function. Its value may share memory with the
// settings and must not be changed; values are compared by content. Of an owner that is gone the read is forgotten with the first
// change of what it has seen.
func Read[T, V any](r *Readers[T], owner ctrl.Request, project func(T) V) V {
	r.live.mu.Lock()
	defer r.live.mu.Unlock()
	value := project(r.live.value)
	r.seen[owner] = func(now T) bool { return !reflect.DeepEqual(project(now), value) }
	return value
}

// wake enqueues the owners that see something else now, and forgets what they have seen.
func (r *Readers[T]) wake(value T) {
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
