package health

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/internal/text"
)

// Error is an error with a category and the reason and message of a condition. Create it with [NewError] or [Categorize].
type Error struct {
	// Category of the error; empty counts as [Unknown].
	Category Category
	// Reason of the condition, CamelCase.
	Reason string
	// Message tells a user what is wrong and what is accepted. It is stored, so it must not contain values that change on every
	// reconciliation.
	Message string
	// Cause is the underlying error, or nil.
	Cause error
}

// NewError returns an error of the category. The cause may be nil.
func NewError(category Category, reason, message string, cause error) *Error {
	return &Error{Category: category, Reason: reason, Message: message, Cause: cause}
}

// Error returns "reason: message", or the one of them that is set, or the text of the cause.
func (e *Error) Error() string {
	switch {
	case e.Reason != "" && e.Message != "":
		return e.Reason + ": " + e.Message
	case e.Reason != "":
		return e.Reason
	case e.Message != "":
		return e.Message
	case e.Cause != nil:
		return e.Cause.Error()
	}
	return "unknown error"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Classified is an error that defines its own category without importing this package: a typed error of another package or of a product.
// [Categorize] uses its category and reason; the message is its Error text.
type Classified interface {
	error
	// HealthCategory returns one of the [Category] values; other strings count as [Unknown].
	HealthCategory() string
	// HealthReason returns the reason of the condition.
	HealthReason() string
}

// retryError joins the errors that a retry may resolve. errors.Is and errors.As examine all of them.
type retryError struct {
	// Errors has at least one error, in the order of observation.
	Errors []*Error
}

// Detail returns the full text of the error without credentials, for a log, and appends the text of the cause if it is not part of it.
func (e *Error) Detail() string {
	message := e.Error()
	if e.Cause == nil {
		return text.Scrub(message)
	}
	if cause := e.Cause.Error(); !strings.Contains(message, cause) {
		message += " (" + cause + ")"
	}
	return text.Scrub(message)
}

// Error lists every error with its cause, in order, as [Error.Detail] does.
func (e *retryError) Error() string {
	texts := make([]string, len(e.Errors))
	for i, one := range e.Errors {
		texts[i] = one.Detail()
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return fmt.Sprintf("%d errors: %s", len(texts), strings.Join(texts, "; "))
}

// Unwrap returns the errors.
func (e *retryError) Unwrap() []error {
	list := make([]error, len(e.Errors))
	for i, one := range e.Errors {
		list[i] = one
	}
	return list
}
