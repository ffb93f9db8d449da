package run

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// tooEarly returns the reason why an owner that reports ready after a pass should not: one of its workloads is not ready, and the cache
// showed that to the pass. A pass with a failed request is exempt, because the request may have been the status.
func tooEarly(w *cluster.Cluster, shown *view.View, calls []transport.Call, owner types.NamespacedName) string {
	if w.Fake == nil || slices.ContainsFunc(calls, func(c transport.Call) bool { return c.Err != nil }) {
		return ""
	}
	for _, gvk := range w.Kinds() {
		if !w.OwnerKinds()[gvk.GroupKind()] {
			continue
		}
		items, err := w.List(gvk)
		if u := items[owner]; err == nil && u != nil && u.GetDeletionTimestamp() == nil && cluster.ReportsReady(u) {
			if why := unreadyChild(w, shown, u.GetUID()); why != "" {
				return objects.Name(gvk, owner) + " reports ready while " + why
			}
		}
	}
	return ""
}

// unreadyChild returns a workload of an owner that is not ready, in the cache and in the store.
func unreadyChild(w *cluster.Cluster, shown *view.View, owner types.UID) string {
	for _, gvk := range cluster.Workloads() {
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
			if why := cluster.Unready(u); why != "" {
				return fmt.Sprintf("%s is not: %s", objects.Name(gvk, key), why)
			}
		}
	}
	return ""
}
