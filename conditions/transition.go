package conditions

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Transition is one condition that is new, or whose status or reason differs from the stored one.
type Transition struct {
	// Before is what is stored; nil for a new condition.
	Before *metav1.Condition
	// After is what the pass made of it.
	After metav1.Condition
	// Event is the Kubernetes event that announces it; nil for none.
	Event *Event
	// LogMessage is the message of the log line that announces it, the same for one type and status; empty for none. Log it with
	// [Transition.LogValues].
	LogMessage string
	// LogAsError reports whether the line is logged as an error, with a nil error value; else it is an info line.
	LogAsError bool
}

// Transitions returns what changed against the stored conditions, in the order of [Manager.Conditions]. Conditions that were not
// set in this pass, removals and changes of the message alone are none.
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

// LogValues returns the keys and values to log a transition with: condition, status, reason and message.
func (t Transition) LogValues() []any {
	return []any{"condition", t.After.Type, "status", string(t.After.Status), "reason", t.After.Reason, "message", t.After.Message}
}

// differs reports whether two conditions of one type are a transition.
func differs(a, b metav1.Condition) bool { return a.Status != b.Status || a.Reason != b.Reason }
