package nemo

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// GetConditions implements reconcile.ConditionAdapter.
func (Reconciler) GetConditions(n *v1alpha1.NemoGuardrails) []metav1.Condition {
	return n.Status.Conditions
}

// SetConditions implements reconcile.ConditionAdapter. As in the product, a server whose gateway was never found has no conditions,
// unless it has failed.
func (Reconciler) SetConditions(n *v1alpha1.NemoGuardrails, conditions []metav1.Condition) {
	gateway := n.Status.MCPGateway
	ready := meta.FindStatusCondition(conditions, "Ready")
	failed := ready != nil && ready.Status == metav1.ConditionFalse && ready.Reason != "Progressing"
	if gateway != nil && !gateway.MCPGatewayFound && len(n.Status.Conditions) == 0 && !failed {
		return
	}
	n.Status.Conditions = conditions
}
