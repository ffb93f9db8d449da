package recent

import (
	"container/list"
	"sync"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
)

// Values caches results within a budget in bytes. The zero value is empty. It is safe for concurrent use and must not be copied.
type Values[V any] struct {
	mu      sync.Mutex
	entries map[fingerprint.Sum]*list.Element
	order   list.List // of *entry, the most recently used in front
	bytes   int
}

type entry[V any] struct {
	key   fingerprint.Sum
	value V
	size  int
}

// Get returns the value of the key, if it is cached.
func (r *Values[V]) Get(key fingerprint.Sum) (value V, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.entries[key]
	if at == nil {
		return value, false
	}
	r.order.MoveToFront(at)
	return entryAt[V](at).value, true
}

// Put caches the value of the key with its size in bytes, and evicts the least recently used values until all fit into the budget. A
// value that exceeds the budget alone is not cached.
func (r *Values[V]) Put(key fingerprint.Sum, value V, size, budget int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.entries[key]; at != nil { // another worker was faster
		r.drop(at)
	}
	if size > budget {
		return
	}
	if r.entries == nil {
		r.entries = map[fingerprint.Sum]*list.Element{}
	}
	r.entries[key] = r.order.PushFront(&entry[V]{key: key, value: value, size: size})
	for r.bytes += size; r.bytes > budget; {
		r.drop(r.order.Back())
	}
}

// Forget removes the value of the key if meant returns true for it.
func (r *Values[V]) Forget(key fingerprint.Sum, meant func(V) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.entries[key]; at != nil && meant(entryAt[V](at).value) {
		r.drop(at)
	}
}

func (r *Values[V]) drop(at *list.Element) {
	r.order.Remove(at)
	kept := entryAt[V](at)
	delete(r.entries, kept.key)
	r.bytes -= kept.size
}

func entryAt[V any](at *list.Element) *entry[V] {
	return at.Value.(*entry[V]) //nolint:forcetypeassert // the list has nothing else
}
