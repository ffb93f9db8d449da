package reconciletest

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// tooEarly returns why an owner that calls itself ready after a pass should not: a workload of its own is not, and the cache
// has shown that to the pass. A pass in which a request fails may have wanted to say so.
func (i *instance) tooEarly(owner types.NamespacedName, sent int) string {
	if i.world.fake == nil || slices.ContainsFunc(i.wire.calls()[sent:], func(c call) bool { return c.err != nil }) {
		return ""
	}
	for _, gvk := range i.world.kinds() {
		if !i.world.ownerKinds()[gvk.GroupKind()] {
			continue
		}
		items, err := i.world.list(gvk)
		if u := items[owner]; err == nil && u != nil && u.GetDeletionTimestamp() == nil && saysReady(u) {
			if why := i.unreadyChild(u.GetUID()); why != "" {
				return objects.Name(gvk, owner) + " calls itself ready while " + why
			}
		}
	}
	return ""
}

// unreadyChild is a workload of an owner that is not ready, as the cache shows it and as it is.
func (i *instance) unreadyChild(owner types.UID) string {
	for _, gvk := range workloads() {
		items, err := i.world.list(gvk)
		if err != nil {
			continue
		}
		for _, key := range objects.SortedKeys(items) {
			u := items[key]
			ref := metav1.GetControllerOf(u)
			if ref == nil || ref.UID != owner || u.GetDeletionTimestamp() != nil || !i.view.shows(gvk, u) {
				continue
			}
			if why := unready(u); why != "" {
				return fmt.Sprintf("%s is not: %s", objects.Name(gvk, key), why)
			}
		}
	}
	return ""
}
