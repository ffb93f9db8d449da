package pipeline

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// The conditions of kstatus (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md). Tools that wait
// for any kind use them to separate owners in progress from failed ones. They are present only while they are True.
const (
	// stalled: the owner is not ready, and no later pass changes that automatically, or it makes no progress.
	stalled = "Stalled"
	// reconciling: the owner is not ready yet.
	reconciling = "Reconciling"
)

// DefaultProgressDeadline is the time without progress after which an owner is stalled. It is that of a Deployment.
const DefaultProgressDeadline = 10 * time.Minute

// ReasonProgressDeadlineExceeded is the reason of the condition Stalled of an owner that makes no progress.
const ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"

// setKstatus sets Stalled or Reconciling on an owner that is not ready, with the reason and the message of Ready. A condition that a
// decorator has set stays. An owner that makes no progress for the deadline is stalled until it does; a negative deadline never passes.
// The transition time of Reconciling is the time of the last progress, so that the deadline survives a restart. setKstatus returns the
// time that is left, zero if no deadline runs.
func setKstatus(
	manager *conditions.Manager, components []health.Component, assessment *health.Assessment, deadline time.Duration,
) (rest time.Duration) {
	for _, own := range []string{stalled, reconciling} {
		if _, set := manager.Announcement(own); set {
			return 0
		}
	}
	ready, found := manager.Get(conditions.Ready)
	if !found || ready.Status == metav1.ConditionTrue {
		return 0
	}
	if len(assessment.Terminal) > 0 || slices.ContainsFunc(components, failedForGood) {
		manager.MarkTrue(stalled, ready.Reason, ready.Message, conditions.Silent)
		return 0
	}
	progress := progressed(manager)
	rest = deadline
	if before, stored := manager.Stored(reconciling); stored && !progress && !before.LastTransitionTime.IsZero() {
		rest -= manager.Now().Sub(before.LastTransitionTime.Time)
	}
	before, stored := manager.Stored(stalled)
	exceeded := stored && before.Reason == ReasonProgressDeadlineExceeded || rest <= 0
	if deadline >= 0 && exceeded && !progress {
		manager.MarkTrue(stalled, ReasonProgressDeadlineExceeded, fmt.Sprintf("no progress for %s: %s", deadline, ready.Message), conditions.AsWarning)
		return 0
	}
	manager.MarkTrue(reconciling, ready.Reason, ready.Message, conditions.Silent)
	if progress {
		manager.Renew(reconciling)
	}
	return max(rest, 0)
}

// progressed reports whether this pass changes a condition, or reconciles another generation than the stored conditions.
func progressed(manager *conditions.Manager) bool {
	for c := range manager.EachManaged {
		before, stored := manager.Stored(c.Type)
		if !stored || before.Status != c.Status || before.Reason != c.Reason || before.Message != c.Message || before.ObservedGeneration != c.ObservedGeneration {
			return true
		}
	}
	return false
}

// failedForGood reports whether a component has failed and does not recover without a change.
func failedForGood(c health.Component) bool { return c.GetState() == health.Failed }

// setsKstatus reports whether Set may set the condition.
func setsKstatus(conditionType string) bool {
	return conditionType == stalled || conditionType == reconciling
}
