package jobmgr

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
)

// GetConditions implements reconcile.ConditionAdapter.
func (Reconciler) GetConditions(w *kueue.Workload) []metav1.Condition { return w.Status.Conditions }

// SetConditions implements reconcile.ConditionAdapter. It adds no condition that Kueue does not use.
func (Reconciler) SetConditions(w *kueue.Workload, conditions []metav1.Condition) {
	own := []string{kueue.Admitted, kueue.Evicted, kueue.Finished, kueue.QuotaReserved, kueue.Requeued}
	before := w.Status.Conditions
	w.Status.Conditions = slices.DeleteFunc(slices.Clone(conditions), func(c metav1.Condition) bool {
		return !slices.Contains(own, c.Type) && meta.FindStatusCondition(before, c.Type) == nil
	})
}
