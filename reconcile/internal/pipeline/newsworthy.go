package pipeline

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// newsworthy returns the transitions of one pass that become events, so that the events of an owner report each cause
// once:
//
//   - a failure, whenever its reason changes, and an event whose text the author has set, always;
//   - other changes of a condition's status, except for conditions of a new owner that are True;
//   - of several conditions that change for one cause, the summary. The others follow only if they name a cause that the summary
//     does not name, and the conditions of the categories only if no other event names the cause.
//
// The log has all transitions.
func newsworthy(transitions []conditions.Transition) []conditions.Transition {
	told := make([]conditions.Transition, 0, len(transitions))
	for _, t := range transitions {
		if t.Event != nil && (worded(t) || troubled(t) || turned(t)) {
			told = append(told, t)
		}
	}
	all := slices.Clone(told)
	return slices.DeleteFunc(told, func(t conditions.Transition) bool {
		return !worded(t) && slices.ContainsFunc(all, func(other conditions.Transition) bool { return covers(other, t) })
	})
}

// worded reports whether the author has set the text or the reason of the event.
func worded(t conditions.Transition) bool {
	return t.Event.Reason != t.After.Reason || t.After.Message != "" && t.Event.Message != conditions.Bound(t.After.Message)
}

func troubled(t conditions.Transition) bool { return t.Event.Type == corev1.EventTypeWarning }

// turned reports whether the status of a condition has changed. For a new owner only the summary and conditions that are not True count.
func turned(t conditions.Transition) bool {
	if t.Before != nil {
		return t.Before.Status != t.After.Status
	}
	return t.After.Type == conditions.Ready || t.After.Status != metav1.ConditionTrue
}

// covers reports whether the event of other already contains the event of t.
func covers(other, t conditions.Transition) bool {
	switch {
	case other.After.Type == t.After.Type || other.Event.Type != t.Event.Type || t.After.Type == conditions.Ready:
		return false
	case ofCategory(t):
		return other.After.Type == conditions.Ready || !ofCategory(other)
	case other.After.Type != conditions.Ready:
		return false
	}
	return !troubled(t) || strings.Contains(other.Event.Message, t.Event.Message)
}

// ofCategory reports whether the condition represents a category of errors.
func ofCategory(t conditions.Transition) bool {
	switch t.After.Type {
	case health.DependenciesReachable, health.AuthValid, health.ConfigValid:
		return true
	}
	return false
}
