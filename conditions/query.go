package conditions

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Getter finds a condition by type. [Manager] and [List] are getters.
type Getter interface {
	// Get returns the condition, or false when there is none.
	Get(conditionType string) (metav1.Condition, bool)
}

// List is a plain list of conditions as a [Getter].
type List []metav1.Condition

// Get returns the first condition of the type, or false when there is none.
func (l List) Get(conditionType string) (metav1.Condition, bool) {
	for i := range l {
		if l[i].Type == conditionType {
			return l[i], true
		}
	}
	return metav1.Condition{}, false
}

// Both forms of a set of conditions can be asked.
var (
	_ Getter = (*Manager)(nil)
	_ Getter = List(nil)
)

// IsTrue reports whether the condition exists and is True.
func IsTrue(from Getter, conditionType string) bool {
	return is(from, conditionType, metav1.ConditionTrue)
}

// IsFalse reports whether the condition exists and is False.
func IsFalse(from Getter, conditionType string) bool {
	return is(from, conditionType, metav1.ConditionFalse)
}

// AllTrue reports whether all of the conditions exist and are True; it is true for no types.
func AllTrue(from Getter, conditionTypes ...string) bool {
	for _, t := range conditionTypes {
		if !IsTrue(from, t) {
			return false
		}
	}
	return true
}

// AnyTrue reports whether one of the conditions exists and is True.
func AnyTrue(from Getter, conditionTypes ...string) bool {
	for _, t := range conditionTypes {
		if IsTrue(from, t) {
			return true
		}
	}
	return false
}

// AnyFalse reports whether one of the conditions exists and is False; one that does not exist, or is Unknown, is not False.
func AnyFalse(from Getter, conditionTypes ...string) bool {
	for _, t := range conditionTypes {
		if IsFalse(from, t) {
			return true
		}
	}
	return false
}

// IsCurrent reports whether the condition exists and was set for this generation or a later one.
func IsCurrent(from Getter, conditionType string, generation int64) bool {
	c, found := from.Get(conditionType)
	return found && c.ObservedGeneration >= generation
}

// Equal reports whether two lists hold the same conditions, in any order. Times are compared at whole seconds, as they are stored.
func Equal(a, b []metav1.Condition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		other, found := List(b).Get(a[i].Type)
		if !found || !same(a[i], other) {
			return false
		}
	}
	return true
}

func same(a, b metav1.Condition) bool {
	at, bt := a.LastTransitionTime, b.LastTransitionTime
	a.LastTransitionTime, b.LastTransitionTime = metav1.Time{}, metav1.Time{}
	return a == b && at.Unix() == bt.Unix()
}

func is(from Getter, conditionType string, status metav1.ConditionStatus) bool {
	c, found := from.Get(conditionType)
	return found && c.Status == status
}
