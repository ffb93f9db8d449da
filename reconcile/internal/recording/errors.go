package recording

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// failure is an error in a form from which one can be made that phases and engine take for the same: with its text, its answer
// of the API server, its category, and the typed errors of the SDK that it is.
type failure struct {
	// Message is the text.
	Message string `json:"message"`
	// Type is its Go type, for people.
	Type string `json:"type,omitempty"`
	// Joined are the parts of joined errors.
	Joined []*failure `json:"joined,omitempty"`
	// Status is the answer of the API server.
	Status *metav1.Status `json:"status,omitempty"`
	// errorVerdict is its category, with the words for a condition.
	Verdict *errorVerdict `json:"verdict,omitempty"`
	// Is are the errors of the package context that errors.Is finds in it: "canceled", "deadline exceeded".
	Is []string `json:"is,omitempty"`
	// NotYet is what a reader will know later.
	NotYet string `json:"notYet,omitempty"`
	// Owned and Contested are refusals of the engine.
	Owned     *apply.OwnedByAnotherError `json:"ownedByAnother,omitempty"`
	Contested *apply.ContestedError      `json:"contested,omitempty"`
}

// errorVerdict is what [health.Categorize] says of an error.
type errorVerdict struct {
	Category string `json:"category"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	// Cause reports that there is an error behind it.
	Cause bool `json:"cause,omitempty"`
}

// errorOf writes an error down.
func errorOf(err error) *failure {
	if err == nil {
		return nil
	}
	if known, ok := err.(*recorded); ok { //nolint:errorlint // the error itself
		return known.form
	}
	out := &failure{Message: err.Error()}
	if parts, joined := err.(interface{ Unwrap() []error }); joined {
		texts := make([]string, 0, len(parts.Unwrap()))
		for _, part := range parts.Unwrap() {
			out.Joined = append(out.Joined, errorOf(part))
			texts = append(texts, part.Error())
		}
		if strings.Join(texts, "\n") == out.Message && len(texts) > 0 {
			return out
		}
		out.Joined = nil // it has words of its own, and counts as one
	}
	var waiting *pipeline.NotYetError
	if errors.As(err, &waiting) {
		out.NotYet = waiting.What
		return out
	}
	if errors.As(err, &out.Owned) || errors.As(err, &out.Contested) {
		return out
	}
	out.Type = fmt.Sprintf("%T", err)
	for _, known := range sentinels() {
		if errors.Is(err, known.err) {
			out.Is = append(out.Is, known.name)
		}
	}
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		status := answer.Status()
		out.Status = &status
	}
	if out.Status == nil || classified(err) {
		verdict := health.Categorize(err)
		out.Verdict = &errorVerdict{
			Category: string(verdict.Category), Reason: verdict.Reason, Message: verdict.Message, Cause: verdict.Cause != nil,
		}
	}
	return out
}

// sentinel is an error that is a value.
type sentinel struct {
	name string
	err  error
}

func sentinels() []sentinel {
	return []sentinel{{"canceled", context.Canceled}, {"deadline exceeded", context.DeadlineExceeded}}
}

// classified reports whether the error brings its own category, which beats an answer of the API server.
func classified(err error) bool {
	var known *health.Error
	var knows health.Classified
	return errors.As(err, &known) || errors.As(err, &knows)
}

// err makes an error of what was written down.
func (e *failure) err() error {
	switch {
	case e == nil:
		return nil
	case e.NotYet != "":
		return &pipeline.NotYetError{What: e.NotYet}
	case e.Owned != nil:
		return e.Owned
	case e.Contested != nil:
		return e.Contested
	case len(e.Joined) > 0:
		parts := make([]error, len(e.Joined))
		for i, part := range e.Joined {
			parts[i] = part.err()
		}
		return errors.Join(parts...)
	}
	out := &recorded{form: e}
	if e.Status != nil {
		out.answer = &apierrors.StatusError{ErrStatus: *e.Status}
	}
	return out
}

// recorded is an error that was written down.
type recorded struct {
	form   *failure
	answer *apierrors.StatusError
}

// failure is the text of the error that was recorded.
func (r *recorded) Error() string { return r.form.Message }

// Unwrap returns the answer of the API server.
func (r *recorded) Unwrap() error {
	if r.answer == nil {
		return nil
	}
	return r.answer
}

// Is finds the errors of the package context.
func (r *recorded) Is(target error) bool {
	return slices.ContainsFunc(sentinels(), func(known sentinel) bool {
		return target == known.err && slices.Contains(r.form.Is, known.name)
	})
}

// As gives the category.
func (r *recorded) As(target any) bool {
	into, ok := target.(**health.Error)
	verdict := r.form.Verdict
	if !ok || verdict == nil {
		return false
	}
	*into = health.NewError(health.Category(verdict.Category), verdict.Reason, verdict.Message, nil)
	if verdict.Cause {
		(*into).Cause = errors.New(r.form.Message)
	}
	return true
}

// text is the text of an error, "" for none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func texts(errs []error) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}
