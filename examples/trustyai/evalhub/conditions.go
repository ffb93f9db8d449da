package evalhub

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// GetConditions implements reconcile.ConditionAdapter. The conditions of a hub have no generation.
func (Reconciler) GetConditions(h *v1.EvalHub) (out []metav1.Condition) {
	for _, c := range h.Status.Conditions {
		out = append(out, metav1.Condition{
			Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// SetConditions implements reconcile.ConditionAdapter.
func (Reconciler) SetConditions(h *v1.EvalHub, conditions []metav1.Condition) {
	h.Status.Conditions = nil
	for _, c := range conditions {
		h.Status.Conditions = append(h.Status.Conditions, v1.EvalHubCondition{
			Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
}
