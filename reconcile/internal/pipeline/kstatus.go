package pipeline

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// The conditions of kstatus (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md), by which tools that wait
// for any kind tell what is on its way from what has failed. They are there only while they are True.
const (
	// stalled: the owner is not ready, and no later pass changes that by itself.
	stalled = "Stalled"
	// reconciling: the owner is not ready yet.
	reconciling = "Reconciling"
)

// setKstatus sets Stalled or Reconciling on an owner that is not ready, with the reason and the message of Ready; that one is announced, so
// that these are not. What a decorator has set itself stands.
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

// failedForGood reports whether a component does not work and will not without a change.
func failedForGood(c health.Component) bool { return c.GetState() == health.Failed }

// setsKstatus reports whether Set may set the condition.
func setsKstatus(conditionType string) bool {
	return conditionType == stalled || conditionType == reconciling
}
