package run

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// tooEarly returns why an owner that calls itself ready after a pass should not: a workload of its own is not, and the cache
// has shown that to the pass. A pass in which a request fails may have wanted to say so.
func (i *Instance) tooEarly(owner types.NamespacedName, sent int) string {
	if i.World.Fake == nil || slices.ContainsFunc(i.Wire.Calls()[sent:], func(c transport.Call) bool { return c.Err != nil }) {
		return ""
	}
	for _, gvk := range i.World.Kinds() {
		if !i.World.OwnerKinds()[gvk.GroupKind()] {
			continue
		}
		items, err := i.World.List(gvk)
		if u := items[owner]; err == nil && u != nil && u.GetDeletionTimestamp() == nil && world.SaysReady(u) {
			if why := i.unreadyChild(u.GetUID()); why != "" {
				return objects.Name(gvk, owner) + " calls itself ready while " + why
			}
		}
	}
	return ""
}

// unreadyChild is a workload of an owner that is not ready, as the cache shows it and as it is.
func (i *Instance) unreadyChild(owner types.UID) string {
	for _, gvk := range world.Workloads() {
		items, err := i.World.List(gvk)
		if err != nil {
			continue
		}
		for _, key := range objects.SortedKeys(items) {
			u := items[key]
			ref := metav1.GetControllerOf(u)
			if ref == nil || ref.UID != owner || u.GetDeletionTimestamp() != nil || !i.View.Shows(gvk, u) {
				continue
			}
			if why := world.Unready(u); why != "" {
				return fmt.Sprintf("%s is not: %s", objects.Name(gvk, key), why)
			}
		}
	}
	return ""
}
