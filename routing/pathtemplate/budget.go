package pathtemplate

import (
	"errors"
	"fmt"
)

// Limits of what a user writes. They have no option: no useful path comes near them.
const (
	maxTemplate    = 4096      // bytes of a template
	maxExpressions = 64        // of a template
	maxNodes       = 64        // names, keys, indices, wildcards and comparisons of one expression
	maxDescent     = 64        // levels below the value where ".." starts
	maxValues      = 16 * 1024 // bytes that the expressions together may put into a path, before cleaning
)

// What is charged for work that is no single step.
const (
	bytesPerStep = 64 // of text that is compared, or encoded as JSON
	marshalSteps = 16 // a call of MarshalJSON
)

// evaluation is one rendering: its budget and what has been spent of it.
type evaluation struct {
	maxSteps   int
	maxResults int

	steps int
	bytes int   // of the values that became text
	limit error // the limit that was exceeded, if one was: nothing goes on after it
}

// spend takes steps from the budget before they are made.
func (e *evaluation) spend(steps int) error {
	if e.limit == nil && steps > e.maxSteps-e.steps {
		e.limit = exceeded(`name the field by its full path in place of "..", "*", filters and lists of keys`,
			"the evaluation takes more than %d steps (values visited), the limit of a template", e.maxSteps)
	}
	if e.limit == nil {
		e.steps += steps
	}
	return e.limit
}

// hold checks how many values are kept at once.
func (e *evaluation) hold(results int) error {
	if e.limit == nil && results > e.maxResults {
		e.limit = exceeded(`select one value before the next step, for example by an index or a key`,
			"a step gives more than %d values, the limit of an expression", e.maxResults)
	}
	return e.limit
}

// deep checks how far ".." has come.
func (e *evaluation) deep(level int) error {
	if e.limit == nil && level > maxDescent {
		e.limit = exceeded(`name the field by its full path in place of ".."`,
			"the recursive descent goes deeper than %d levels, the limit of an expression", maxDescent)
	}
	return e.limit
}

// text checks a value that becomes a part of the path.
func (e *evaluation) text(value string) error {
	if e.limit == nil && len(value) > maxValues-e.bytes {
		e.limit = exceeded("name a shorter field",
			"a value of %d bytes is too long: the values of a template may have at most %d together", len(value), maxValues)
	}
	if e.limit == nil {
		e.bytes += len(value)
	}
	return e.limit
}

// limitError is a limit that a template exceeds, and what to do about it.
type limitError struct{ message, remedy string }

func exceeded(remedy, format string, args ...any) *limitError {
	return &limitError{message: fmt.Sprintf(format, args...), remedy: remedy}
}

func (e *limitError) Error() string { return e.message }

// advice returns the remedy of a limit that err reports, else what is said otherwise.
func advice(err error, otherwise string) string {
	var limit *limitError
	if errors.As(err, &limit) {
		return limit.remedy
	}
	return otherwise
}
