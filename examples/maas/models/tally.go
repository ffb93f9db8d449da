package models

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/conditions"
	"k8s.io/apimachinery/pkg/types"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// Tally counts the failures in the parts of a member.
type Tally struct {
	// All counts the parts, Missing those whose model does not count, and Unready those of the others whose policy is not ready. All is
	// 0 for a member without a spec, which the API server accepts.
	All, Missing, Unready int
	// Failed is the reason why the part of the member is missing in a policy, or empty.
	Failed string
	// Messages: all models are missing, some of them are, some policies are not ready.
	AllMissing, SomeMissing, SomeUnready string
}

// Announce sets the condition Ready to the first failure, and returns the phase.
func (t Tally) Announce(cm *conditions.Manager) maasv1alpha1.Phase {
	phase, reason := maasv1alpha1.PhaseDegraded, maasv1alpha1.ReasonPartialFailure
	var message string
	switch {
	case t.All == 0:
		phase, message = maasv1alpha1.PhaseFailed, "spec is required"
	case t.Missing == t.All:
		phase, message = maasv1alpha1.PhaseFailed, fmt.Sprintf("all %d model references are %s", t.All, t.AllMissing)
	case t.Failed != "":
		phase, message = maasv1alpha1.PhaseFailed, t.Failed
	case t.Missing > 0:
		message = fmt.Sprintf("%d of %d model references are %s", t.Missing, t.All, t.SomeMissing)
	case t.Unready > 0:
		message = fmt.Sprintf("%d of %d %s", t.Unready, t.All, t.SomeUnready)
	default:
		cm.MarkTrue(conditions.Ready, string(maasv1alpha1.ReasonReconciled), "successfully reconciled")
		return maasv1alpha1.PhaseActive
	}
	if phase == maasv1alpha1.PhaseFailed {
		reason = maasv1alpha1.ReasonReconcileFailed
	}
	cm.MarkFalse(conditions.Ready, string(reason), message, conditions.AsWarning)
	return phase
}

// Unready returns a state with its reason, and with a message shortened for the status.
func Unready(key types.NamespacedName, reason maasv1alpha1.Reason, message string) maasv1alpha1.ResourceRefStatus {
	return maasv1alpha1.ResourceRefStatus{Name: key.Name, Namespace: key.Namespace, Reason: reason, Message: conditions.Bound(message)}
}
