package pathtemplate

import (
	"errors"
	"fmt"
)

// Limits of templates. They are not configurable, because they far exceed any useful path.
const (
	maxTemplate    = 4096      // bytes of a template
	maxExpressions = 64        // of a template
	maxNodes       = 64        // names, keys, indices, wildcards and comparisons of one expression
	maxDescent     = 64        // levels below the value where ".." starts
	maxValues      = 16 * 1024 // bytes that all expressions may add to a path, before cleaning
)

// Costs of work that takes more than one step.
const (
	bytesPerStep = 64 // of compared text, or text encoded as JSON
	marshalSteps = 16 // a call of MarshalJSON
)

// evaluation is the budget of one rendering and its consumption.
type evaluation struct {
	maxSteps   int
	maxResults int

	steps int
	bytes int   // of the values converted to text
	limit error // the first exceeded limit; it ends the evaluation
}

// spend charges steps to the budget in advance.
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

// hold checks the number of intermediate results.
func (e *evaluation) hold(results int) error {
	if e.limit == nil && results > e.maxResults {
		e.limit = exceeded(`select one value before the next step, for example by an index or a key`,
			"a step gives more than %d values, the limit of an expression", e.maxResults)
	}
	return e.limit
}

// deep checks the depth of "..".
func (e *evaluation) deep(level int) error {
	if e.limit == nil && level > maxDescent {
		e.limit = exceeded(`name the field by its full path in place of ".."`,
			"the recursive descent goes deeper than %d levels, the limit of an expression", maxDescent)
	}
	return e.limit
}

// text checks a value that is added to the path.
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

// limitError reports an exceeded limit and its remedy.
type limitError struct{ message, remedy string }

func exceeded(remedy, format string, args ...any) *limitError {
	return &limitError{message: fmt.Sprintf(format, args...), remedy: remedy}
}

func (e *limitError) Error() string { return e.message }

// advice returns the remedy of the limit that err reports, else otherwise.
func advice(err error, otherwise string) string {
	var limit *limitError
	if errors.As(err, &limit) {
		return limit.remedy
	}
	return otherwise
}
