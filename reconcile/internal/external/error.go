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

// Reasons of errors in conditions.
const (
	reasonFailed    = "ExternalCallFailed"        // a call of an external system failed
	reasonTimeout   = "ExternalCallTimedOut"      // a call of an external system timed out
	reasonNetwork   = "ExternalSystemUnavailable" // an external system cannot be reached
	reasonClaimed   = "ExternalObjectClaimed"     // another owner has the external resource
	reasonUnclaimed = "ExternalClaimUnavailable"  // the claim of the external resource could not be read or stored
	reasonLost      = "ExternalClaimLost"         // no claim proves that the owner has the external resource
	reasonGone      = "ExternalSystemGone"        // the external system no longer exists
	reasonForbidden = "ExternalObjectForbidden"   // the owner may not have the external resource
)

// Call is one call of a [System].
type Call struct {
	// Kind is the name of the kind.
	Kind string
	// System is what [Options.System] returns for the key.
	System string
	// Verb is VerbObserve, VerbEnsure or VerbRemove.
	Verb string
	// Key identifies the resource.
	Key string
}

// Error is an error about one external resource. It has a health category, and wraps the error of the system.
type Error struct {
	Call
	// Category and Reason of the error in conditions.
	Category health.Category
	Reason   string
	// Err is the cause.
	Err error
}

var _ health.Classified = (*Error)(nil)

// Error returns the call and the cause.
func (e *Error) Error() string { return fmt.Sprintf("%s %s %q: %s", e.Verb, e.Kind, e.Key, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// HealthCategory implements [health.Classified].
func (e *Error) HealthCategory() string { return string(e.Category) }

// HealthReason implements [health.Classified].
func (e *Error) HealthReason() string { return e.Reason }

// ExternalSystem returns the system that failed. After such an error the owner is requeued with backoff, regardless of the plan's
// RequeueAfter.
func (e *Error) ExternalSystem() string { return e.Kind + "/" + e.System }

// failed returns an [Error] about an error of the system.
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

// openError is the error of an open circuit.
type openError struct {
	last  *Error
	until time.Time
}

// Error returns the last response of the system without a time, because a condition stores it.
func (e *openError) Error() string {
	return "not sent, the system has failed too often in a row; its last error: " + e.last.Err.Error()
}

// Unwrap returns the last response.
func (e *openError) Unwrap() error { return e.last.Err }

// NotSentUntil returns the time until which nothing is sent. A reconciliation with only such errors waits until then and is not logged,
// because the last call that was sent has been logged.
func (e *openError) NotSentUntil() time.Time { return e.until }
