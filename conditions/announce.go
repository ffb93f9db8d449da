package conditions

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Option changes how a transition of a condition is announced: an [Announcement], an [EventReason] or an [EventMessage]. Options are
// applied in order; a later option overrides an earlier one. The default is [AsInfo].
type Option interface {
	applyTo(o *options)
}

// Announcement selects the events and log lines of a transition.
type Announcement int

const (
	// AsInfo emits a Normal event and an info line. It is the default.
	AsInfo Announcement = iota
	// AsWarning emits a Warning event and an info line.
	AsWarning
	// AsError emits a Warning event and an error line.
	AsError
	// Silent emits neither an event nor a log line.
	Silent
)

// EventReason overrides the condition's reason in the event. Empty keeps it.
type EventReason string

// EventMessage overrides the condition's message in the event. Empty keeps it.
type EventMessage string

// Event describes a Kubernetes event about a transition.
type Event struct {
	// Type is Normal or Warning (corev1.EventTypeNormal, corev1.EventTypeWarning).
	Type string
	// Reason is the condition's reason, or the value of [EventReason].
	Reason string
	// Message is never empty and at most 1024 bytes, the limit of the events API.
	Message string
}

// options is the sum of the [Option] values of one [Manager.Set].
type options struct {
	announcement Announcement
	eventReason  string
	eventMessage string
}

func (a Announcement) applyTo(o *options) { o.announcement = a }
func (r EventReason) applyTo(o *options)  { o.eventReason = string(r) }
func (m EventMessage) applyTo(o *options) { o.eventMessage = string(m) }
func (o options) applyTo(into *options)   { *into = o }

// event returns the event of a condition, or nil if it has none.
func (o options) event(c metav1.Condition) *Event {
	if o.announcement == Silent {
		return nil
	}
	e := &Event{Type: "Normal", Reason: c.Reason, Message: c.Message}
	if o.announcement == AsWarning || o.announcement == AsError {
		e.Type = "Warning"
	}
	if o.eventReason != "" {
		e.Reason = o.eventReason
	}
	if o.eventMessage != "" {
		e.Message = o.eventMessage
	}
	if e.Message == "" {
		e.Message = sentence(c) + ": " + c.Reason
	}
	e.Message = Bound(e.Message)
	return e
}

// log returns the message of the log line, empty for none, and reports whether it is an error line.
func (o options) log(c metav1.Condition) (message string, isError bool) {
	if o.announcement == Silent {
		return "", false
	}
	return sentence(c), o.announcement == AsError
}

// sentence describes a condition in a sentence: "Cache is not ready" for CacheReady=False. A type that does not end in Ready is named
// with its status, "Stalled is True", because its polarity is unknown.
func sentence(c metav1.Condition) string {
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
