package conditions

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Transition is one condition that is new, or whose status or reason differs from the stored one.
type Transition struct {
	// Before is what is stored; nil for a new condition.
	Before *metav1.Condition
	// After is what the pass made of it.
	After metav1.Condition
	// Event is what to tell with a Kubernetes event; nil for no event.
	Event *Event
	// Log is what to log; nil for nothing.
	Log *Log
}

// Event is a Kubernetes event about a transition.
type Event struct {
	// Type is Normal or Warning (corev1.EventTypeNormal, corev1.EventTypeWarning).
	Type string
	// Reason is the condition's reason, or the one given with [EventReason].
	Reason string
	// Message is never empty and at most [MaxMessage] bytes, the limit of the events API.
	Message string
}

// Log is a log line about a transition. Log it with the keys condition, status, reason and message ([Transition.LogValues]).
type Log struct {
	// Error says to log at the error level, with a nil error.
	Error bool
	// Level is the verbosity of an info line (logr's V).
	Level int
	// Message is constant for a type and status unless [LogMessage] gave another.
	Message string
}

const (
	eventNormal  = "Normal"
	eventWarning = "Warning"
)

// Transitions returns what changed against the stored conditions, in the order of [Manager.Conditions]. Conditions that were not
// set in this pass, removals and changes of the message alone are none.
func (m *Manager) Transitions() []Transition {
	var list []Transition
	for i := range m.entries {
		e := &m.entries[i]
		if !e.set || (e.existed && !differs(e.stored, e.current)) {
			continue
		}
		t := Transition{After: e.current, Event: newEvent(e.current, e.options), Log: newLog(e.current, e.options)}
		if e.existed {
			before := e.stored
			t.Before = &before
		}
		list = append(list, t)
	}
	return list
}

// Diff returns the transitions from one list of conditions to another, told with the default announcement ([AsInfo]), in the
// order of [Manager.Conditions]. The order of the lists does not matter.
func Diff(before, after []metav1.Condition) []Transition {
	var list []Transition
	for i := range after {
		stored, existed := List(before).Get(after[i].Type)
		if existed && !differs(stored, after[i]) {
			continue
		}
		t := Transition{After: after[i], Event: newEvent(after[i], Options{}), Log: newLog(after[i], Options{})}
		if existed {
			t.Before = &stored
		}
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(a, b Transition) int { return compareTypes(a.After.Type, b.After.Type) })
	return list
}

// LogValues returns the keys and values to log a transition with: condition, status, reason and message.
func (t Transition) LogValues() []any {
	return []any{"condition", t.After.Type, "status", string(t.After.Status), "reason", t.After.Reason, "message", t.After.Message}
}

// differs reports whether two conditions of one type are a transition.
func differs(a, b metav1.Condition) bool { return a.Status != b.Status || a.Reason != b.Reason }

// newEvent words the event of a condition.
func newEvent(c metav1.Condition, o Options) *Event {
	if o.NoEvent {
		return nil
	}
	e := &Event{Type: eventNormal, Reason: c.Reason, Message: c.Message}
	if o.Warning {
		e.Type = eventWarning
	}
	if o.EventReason != "" {
		e.Reason = o.EventReason
	}
	if o.EventMessage != "" {
		e.Message = o.EventMessage
	}
	if e.Message == "" {
		e.Message = phrase(c) + ": " + c.Reason
	}
	e.Message = Bound(e.Message)
	return e
}

// newLog words the log line of a condition.
func newLog(c metav1.Condition, o Options) *Log {
	if o.NoLog {
		return nil
	}
	l := &Log{Error: o.ErrorLog, Level: o.Level, Message: o.LogMessage}
	if l.Message == "" {
		l.Message = phrase(c)
	}
	return l
}

// phrase puts a condition in words: "Cache is not ready" for CacheReady=False. Of a type that does not end in Ready nothing is known about
// which status is the good one: it is named as it is, "Stalled is True".
func phrase(c metav1.Condition) string {
	subject, readiness := strings.CutSuffix(c.Type, Ready)
	if !readiness {
		return c.Type + " is " + string(c.Status)
	}
	if subject == "" {
		subject = "object"
	}
	switch c.Status {
	case metav1.ConditionTrue:
		return subject + " is ready"
	case metav1.ConditionFalse:
		return subject + " is not ready"
	case metav1.ConditionUnknown:
	}
	return subject + " status unknown"
}
