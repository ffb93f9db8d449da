package external

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
)

// The verbs of a [Call].
const (
	VerbObserve = "observe"
	VerbEnsure  = "ensure"
	VerbRemove  = "remove"
)

// Reasons of the conditions of errors.
const (
	reasonFailed    = "ExternalCallFailed"        // a call of a system outside of the cluster failed
	reasonTimeout   = "ExternalCallTimedOut"      // a call of a system outside of the cluster took too long
	reasonNetwork   = "ExternalSystemUnavailable" // a system outside of the cluster cannot be reached
	reasonClaimed   = "ExternalObjectClaimed"     // another owner has the thing outside of the cluster
	reasonUnclaimed = "ExternalClaimUnavailable"  // the claim of the thing outside of the cluster could not be read or stored
	reasonLost      = "ExternalClaimLost"         // no claim proves that the owner has the thing outside of the cluster
	reasonGone      = "ExternalSystemGone"        // the system outside of the cluster no longer exists
	reasonForbidden = "ExternalObjectForbidden"   // the owner may not have the thing outside of the cluster
)

// Call is one call of a [System].
type Call struct {
	// Kind is the name of the kind.
	Kind string
	// System is what [Options.System] returns for the key.
	System string
	// Verb is one of VerbObserve, VerbEnsure and VerbRemove.
	Verb string
	// Key names the thing.
	Key string
}

// Error is what went wrong with one thing outside. It knows its category, and wraps the error of the system.
type Error struct {
	Call
	// Category and Reason say what follows from it.
	Category health.Category
	Reason   string
	// Err is the cause.
	Err error
}

var _ health.Classified = (*Error)(nil)

// Error names the call and the cause.
func (e *Error) Error() string { return fmt.Sprintf("%s %s %q: %s", e.Verb, e.Kind, e.Key, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// HealthCategory implements [health.Classified].
func (e *Error) HealthCategory() string { return string(e.Category) }

// HealthReason implements [health.Classified].
func (e *Error) HealthReason() string { return e.Reason }

// ExternalSystem reports which system failed: a pass with such an error is left to the backoff, whatever poll its plan asks for.
func (e *Error) ExternalSystem() string { return e.Kind + "/" + e.System }

// failed puts an error of the system into words.
func (k *kind) failed(call Call, err error) *Error {
	out := &Error{Call: call, Reason: reasonFailed, Err: err}
	switch {
	case errors.Is(err, ErrSystemGone):
		out.Category, out.Reason = health.MissingUpstreamDependency, reasonGone
		return out
	case errors.Is(err, context.DeadlineExceeded):
		out.Category, out.Reason = health.Infrastructure, reasonTimeout
		return out
	case k.options.Classify != nil:
		out.Category, out.Reason = k.options.Classify(err)
	}
	if out.Category == "" {
		known := health.Categorize(err)
		out.Category, out.Reason = known.Category, known.Reason
	}
	if network := net.Error(nil); out.Category == health.Unknown && errors.As(err, &network) {
		out.Category, out.Reason = health.Infrastructure, reasonNetwork
	}
	if out.Reason == "" {
		out.Reason = reasonFailed
	}
	return out
}

// openError is the answer of an open circuit.
type openError struct {
	last  *Error
	until time.Time
}

// Error has the last answer of the system, and no time: it is stored in a condition.
func (e *openError) Error() string {
	return "not sent, the system has failed too often in a row; its last error: " + e.last.Err.Error()
}

// Unwrap returns the last answer.
func (e *openError) Unwrap() error { return e.last.Err }

// NotSentUntil returns until when nothing is sent. A pass with such errors alone waits for that, and is not logged: who was sent the last call
// has said what is wrong.
func (e *openError) NotSentUntil() time.Time { return e.until }
