package pipeline

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// The conditions of kstatus (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md). Tools that wait
// for any kind use them to separate owners in progress from failed ones. They are present only while they are True.
const (
	// stalled: the owner is not ready, and no later pass changes that automatically.
	stalled = "Stalled"
	// reconciling: the owner is not ready yet.
	reconciling = "Reconciling"
)

// setKstatus sets Stalled or Reconciling on an owner that is not ready, with the reason and the message of Ready. Only Ready is announced.
// A condition that a decorator has set stays.
func setKstatus(manager *conditions.Manager, components []health.Component, assessment *health.Assessment) {
	for _, own := range []string{stalled, reconciling} {
		if _, set := manager.Announcement(own); set {
			return
		}
	}
	ready, found := manager.Get(conditions.Ready)
	if !found || ready.Status == metav1.ConditionTrue {
		return
	}
	which := reconciling
	if len(assessment.Terminal) > 0 || slices.ContainsFunc(components, failedForGood) {
		which = stalled
	}
	manager.MarkTrue(which, ready.Reason, ready.Message, conditions.Silent)
}

// failedForGood reports whether a component has failed and does not recover without a change.
func failedForGood(c health.Component) bool { return c.GetState() == health.Failed }

// setsKstatus reports whether Set may set the condition.
func setsKstatus(conditionType string) bool {
	return conditionType == stalled || conditionType == reconciling
}
