package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// derivedValue is the value of a derivation while owners read it.
type derivedValue struct {
	*derived.Value
	of reconcile.Derived
}

var _ reconcile.DerivingReader = (*trackedReader)(nil)

// Derived returns the value that all owners share, see [reconcile.FetchDerived]. The read is remembered before it happens, as
// every read is: a change of the value after that wakes the owner.
func (r *trackedReader) Derived(ctx context.Context, d reconcile.Derived) (any, error) {
	k, err := r.declared(d.NewList())
	if err != nil {
		return nil, err
	}
	return r.session.derived(k.index, d, func() *derived.Value { return r.newValue(k, d) }).Get(ctx)
}

// newValue is the value of a derivation of a kind of the cache.
func (c *cachedReads) newValue(k *kind, d reconcile.Derived) *derived.Value {
	return derived.New(derived.Source{
		Each: d.Each, Merge: d.Merge, MaxBytes: d.Limit(),
		List: func(ctx context.Context) ([]client.Object, error) {
			list := d.NewList()
			if err := c.list(ctx, k, list); err != nil {
				return nil, err
			}
			objects, err := derived.Items(list)
			for _, object := range objects {
				object.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind) // as a read by name has it
			}
			return objects, err
		},
		Get: func(ctx context.Context, name types.NamespacedName) (client.Object, error) {
			object := d.NewObject()
			if found, err := ignoreMissing(c.get(ctx, k, name, object)); !found {
				return nil, err
			}
			object.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
			return object, nil
		},
	})
}

// derived remembers the read of a derived value and returns it, new when nobody reads it yet.
func (s *session) derived(x *index, d reconcile.Derived, value func() *derived.Value) *derived.Value {
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	n := x.values[d]
	if n == nil {
		n = &node{index: x, value: &derivedValue{Value: value(), of: d}}
		x.values[d] = n
	}
	s.note(n)
	return n.value.Value
}

// values returns the derived values of a kind that owners read.
func (t *tracker) values(x *index) []*node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(x.values) == 0 {
		return nil
	}
	found := make([]*node, 0, len(x.values))
	for _, n := range x.values {
		found = append(found, n)
	}
	return found
}

// derived appends the owners that read a value which the event has changed. The predicates of the kind do not matter: they
// are about owners that read its objects.
func (w *watcher) derived(ctx context.Context, found []types.NamespacedName, c change) []types.NamespacedName {
	if c.event == eventGeneric || c.resync() {
		return found
	}
	for _, n := range w.tracker.values(w.kind.index) {
		if n.value.Update(ctx, client.ObjectKeyFromObject(c.last())) {
			found = w.tracker.readersOf(found, n)
		}
	}
	return found
}

// readersOf appends the owners that read a node.
func (t *tracker) readersOf(found []types.NamespacedName, n *node) []types.NamespacedName {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return n.owners.appendTo(found)
}

// forgetDerived drops what was computed of a kind that has come or gone.
func (w *watcher) forgetDerived() {
	for _, n := range w.tracker.values(w.kind.index) {
		n.value.Forget()
	}
}
