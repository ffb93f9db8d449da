package health

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/internal/text"
)

// Error is an error with a category and the words for a condition. Make one with [NewError] or [Categorize].
type Error struct {
	// Category decides what follows; the empty one counts as [Unknown].
	Category Category
	// Reason is the reason of the condition, a CamelCase word.
	Reason string
	// Message says to a person what is wrong and what would be right. Nothing that differs from pass to pass belongs
	// in it: it is stored.
	Message string
	// Cause is the error behind it, or nil.
	Cause error
}

// NewError returns an error of the category. The cause may be nil.
func NewError(category Category, reason, message string, cause error) *Error {
	return &Error{Category: category, Reason: reason, Message: message, Cause: cause}
}

// Error returns "reason: message", or the one of them that is there, or the text of the cause.
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

// Classified is an error that knows its own category without importing this package: a typed error of another floor or of a
// product. [Categorize] takes its word; the message is its Error text.
type Classified interface {
	error
	// HealthCategory is one of the [Category] values; another word counts as [Unknown].
	HealthCategory() string
	// HealthReason is the reason of the condition.
	HealthReason() string
}

// retryError joins the errors of a pass that trying again may solve. errors.Is and errors.As look into all of them.
type retryError struct {
	// Errors are at least one, in the order in which they were observed.
	Errors []*Error
}

// Detail returns the text of the error with that of its cause, where the former does not have it, for a log: whole, but without
// credentials.
func (e *Error) Detail() string {
	said := e.Error()
	if e.Cause == nil {
		return text.Scrub(said)
	}
	if cause := e.Cause.Error(); !strings.Contains(said, cause) {
		said += " (" + cause + ")"
	}
	return text.Scrub(said)
}

// Error names every error with its cause, in order, as [Error.Detail] does.
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
