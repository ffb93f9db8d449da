package conditions

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Option changes how a transition of a condition is announced: an [Announcement], an [EventReason] or an [EventMessage]. Options are
// applied in order, a later one wins. Without any a transition is announced [AsInfo].
type Option interface {
	applyTo(o *options)
}

// Announcement is how a transition shows in events and log.
type Announcement int

const (
	// AsInfo is the default: a Normal event and an info line.
	AsInfo Announcement = iota
	// AsWarning is for what may need attention: a Warning event and an info line.
	AsWarning
	// AsError is for what needs attention: a Warning event and an error line.
	AsError
	// Silent announces nothing.
	Silent
)

// EventReason replaces the condition's reason in the event; empty keeps it.
type EventReason string

// EventMessage replaces the condition's message in the event; empty keeps it.
type EventMessage string

// Event is a Kubernetes event about a transition.
type Event struct {
	// Type is Normal or Warning (corev1.EventTypeNormal, corev1.EventTypeWarning).
	Type string
	// Reason is the condition's reason, or the one given with [EventReason].
	Reason string
	// Message is never empty and at most 1024 bytes, the limit of the events API.
	Message string
}

// options is what the [Option] values of one [Manager.Set] add up to.
type options struct {
	announcement Announcement
	eventReason  string
	eventMessage string
}

func (a Announcement) applyTo(o *options) { o.announcement = a }
func (r EventReason) applyTo(o *options)  { o.eventReason = string(r) }
func (m EventMessage) applyTo(o *options) { o.eventMessage = string(m) }
func (o options) applyTo(into *options)   { *into = o }

// event returns the event of a condition, or nil for none.
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

// log returns the message of the log line, empty for none, and whether it is an error line.
func (o options) log(c metav1.Condition) (message string, isError bool) {
	if o.announcement == Silent {
		return "", false
	}
	return sentence(c), o.announcement == AsError
}

// sentence puts a condition in words: "Cache is not ready" for CacheReady=False. Of a type that does not end in Ready nothing is
// known about which status is the good one: it is named as it is, "Stalled is True".
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
