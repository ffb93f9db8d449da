package run

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// tooEarly returns why an owner that calls itself ready after a pass should not: a workload of its own is not, and the cache
// has shown that to the pass. A pass in which a request fails may have wanted to say so.
func tooEarly(w *world.World, shown *view.View, calls []transport.Call, owner types.NamespacedName) string {
	if w.Fake == nil || slices.ContainsFunc(calls, func(c transport.Call) bool { return c.Err != nil }) {
		return ""
	}
	for _, gvk := range w.Kinds() {
		if !w.OwnerKinds()[gvk.GroupKind()] {
			continue
		}
		items, err := w.List(gvk)
		if u := items[owner]; err == nil && u != nil && u.GetDeletionTimestamp() == nil && world.SaysReady(u) {
			if why := unreadyChild(w, shown, u.GetUID()); why != "" {
				return objects.Name(gvk, owner) + " calls itself ready while " + why
			}
		}
	}
	return ""
}

// unreadyChild is a workload of an owner that is not ready, as the cache shows it and as it is.
func unreadyChild(w *world.World, shown *view.View, owner types.UID) string {
	for _, gvk := range world.Workloads() {
		items, err := w.List(gvk)
		if err != nil {
			continue
		}
		for _, key := range objects.SortedKeys(items) {
			u := items[key]
			ref := metav1.GetControllerOf(u)
			if ref == nil || ref.UID != owner || u.GetDeletionTimestamp() != nil || !shown.Shows(gvk, u) {
				continue
			}
			if why := world.Unready(u); why != "" {
				return fmt.Sprintf("%s is not: %s", objects.Name(gvk, key), why)
			}
		}
	}
	return ""
}
