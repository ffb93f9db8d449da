package tracking

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/derived"
)

// Derived remembers the read of a derived value and returns it, new when nobody reads it yet.
func (s *Session) Derived(
	x *Index, of fmt.Stringer, namespace string, matching labels.Selector, value func() *derived.Value,
) *derived.Value {
	s.tracker.mu.Lock()
	defer s.tracker.mu.Unlock()
	n := x.values[of]
	if n == nil {
		n = &node{index: x, value: &derivedValue{Value: value(), of: of, from: query{namespace: namespace, labels: matching}}}
		x.values[of] = n
	}
	s.note(n)
	return n.value.Value
}

// values returns the derived values of a kind that owners read.
func (t *Tracker) values(x *Index) []*node {
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

// Changed appends the owners that read a derived value which an event has changed. The objects are the one of the event before and after it;
// a value that has neither is not looked at.
func (t *Tracker) Changed(ctx context.Context, found []types.NamespacedName, x *Index, objects ...client.Object) []types.NamespacedName {
	for _, n := range t.values(x) {
		at := slices.IndexFunc(objects, n.value.selects)
		if at >= 0 && n.value.Update(ctx, client.ObjectKeyFromObject(objects[at])) {
			found = t.readersOf(found, n)
		}
	}
	return found
}

// readersOf appends the owners that read a node.
func (t *Tracker) readersOf(found []types.NamespacedName, n *node) []types.NamespacedName {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return n.owners.appendTo(found)
}

// ForgetValues drops what was computed of a kind that has come or gone.
func (t *Tracker) ForgetValues(x *Index) {
	for _, n := range t.values(x) {
		n.value.Forget()
	}
}
