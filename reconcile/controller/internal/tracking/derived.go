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

// Derived records the read of a derived value and returns its node, a new one if no owner reads the value yet.
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

// Changed appends the owners that read a derived value that an event has changed. The objects are those before and after the event;
// Changed skips a value that is computed from neither.
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

// ForgetValues drops the derived values of a kind that was installed or removed.
func (t *Tracker) ForgetValues(x *Index) {
	for _, n := range t.values(x) {
		n.value.Forget()
	}
}
