package conditions

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Transition is a condition that is new, or whose status or reason differs from the stored one.
type Transition struct {
	// Before is the stored condition; nil for a new condition.
	Before *metav1.Condition
	// After is the current condition.
	After metav1.Condition
	// Event announces the transition; nil for none.
	Event *Event
	// LogMessage is the message of the log line, the same for one type and status; empty for none. Log it with [Transition.LogValues].
	LogMessage string
	// LogAsError reports whether the line is logged as an error, with a nil error value, rather than as an info line.
	LogAsError bool
}

// Transitions returns the changes against the stored conditions, in the order of [Manager.Conditions]. It omits conditions that were not
// set, removals, and changes of the message alone.
func (m *Manager) Transitions() []Transition {
	var list []Transition
	for i := range m.entries {
		e := &m.entries[i]
		if !e.set || (e.existed && !differs(e.stored, e.current)) {
			continue
		}
		t := Transition{After: e.current, Event: e.options.event(e.current)}
		t.LogMessage, t.LogAsError = e.options.log(e.current)
		if e.existed {
			before := e.stored
			t.Before = &before
		}
		list = append(list, t)
	}
	return list
}

// LogValues returns the keys and values of the log line: condition, status, reason and message.
func (t Transition) LogValues() []any {
	return []any{"condition", t.After.Type, "status", string(t.After.Status), "reason", t.After.Reason, "message", t.After.Message}
}

// differs reports whether two conditions of one type are a transition.
func differs(a, b metav1.Condition) bool { return a.Status != b.Status || a.Reason != b.Reason }
