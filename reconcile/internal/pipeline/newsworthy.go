package pipeline

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// newsworthy returns the transitions of one pass that become events, so that a person who reads the events of an owner finds each thing
// once:
//
//   - a failure, whenever its reason changes, and an event that the author has worded, always;
//   - everything else when the status of a condition changes, but not that a part of a new owner is well;
//   - of several conditions that change for one cause, the summary. Others follow it only where they name a cause that the summary
//     does not name, and the conditions of the categories only where nothing else tells.
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

// worded reports whether the author has given the event a text or a reason of its own.
func worded(t conditions.Transition) bool {
	return t.Event.Reason != t.After.Reason || t.After.Message != "" && t.Event.Message != conditions.Bound(t.After.Message)
}

func troubled(t conditions.Transition) bool { return t.Event.Type == corev1.EventTypeWarning }

// turned reports whether the status of a condition has changed. Of a new owner only the summary counts, and what is not well.
func turned(t conditions.Transition) bool {
	if t.Before != nil {
		return t.Before.Status != t.After.Status
	}
	return t.After.Type == conditions.Ready || t.After.Status != metav1.ConditionTrue
}

// covers reports whether the event of t adds nothing to the one of other.
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

// ofCategory reports whether the condition stands for a category of errors.
func ofCategory(t conditions.Transition) bool {
	switch t.After.Type {
	case health.DependenciesReachable, health.AuthValid, health.ConfigValid:
		return true
	}
	return false
}
