package backend

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/conditions"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// Verdict is the phase of a subscription or an auth policy, and why.
type Verdict struct {
	Phase   maasv1alpha1.Phase
	Message string
}

// Settled is the verdict when nothing is wrong.
func Settled() Verdict { return Verdict{maasv1alpha1.PhaseActive, "successfully reconciled"} }

// NoSpec is the verdict of an object without a spec, which the API server admits.
func NoSpec() Verdict { return Verdict{maasv1alpha1.PhaseFailed, "spec is required"} }

// Of counts: the verdict when some of the things are wrong.
func Of(phase maasv1alpha1.Phase, wrong, all int, what string) Verdict {
	if phase == maasv1alpha1.PhaseFailed {
		return Verdict{phase, fmt.Sprintf("all %d %s", all, what)}
	}
	return Verdict{phase, fmt.Sprintf("%d of %d %s", wrong, all, what)}
}

// Announce sets the condition Ready.
func (v Verdict) Announce(cm *conditions.Manager) {
	switch v.Phase {
	case maasv1alpha1.PhaseActive:
		cm.MarkTrue(conditions.Ready, string(maasv1alpha1.ReasonReconciled), v.Message)
	case maasv1alpha1.PhaseDegraded:
		cm.MarkFalse(conditions.Ready, string(maasv1alpha1.ReasonPartialFailure), v.Message, conditions.AsWarning)
	case maasv1alpha1.PhaseFailed:
		cm.MarkFalse(conditions.Ready, string(maasv1alpha1.ReasonReconcileFailed), v.Message, conditions.AsWarning)
	case maasv1alpha1.PhasePending:
		cm.MarkUnknown(conditions.Ready, string(maasv1alpha1.ReasonUnknown), v.Message)
	}
}

// Unready is a state with its reason and a message that fits into the status.
func Unready(name, namespace string, reason maasv1alpha1.Reason, message string) maasv1alpha1.ResourceRefStatus {
	return maasv1alpha1.ResourceRefStatus{Name: name, Namespace: namespace, Reason: reason, Message: conditions.Bound(message)}
}
