package pathtemplate

// DefaultMaxBytes is the default of [Options].MaxBytes.
const DefaultMaxBytes = 200

// Defaults of the budget.
const (
	defaultSteps   = 20_000
	defaultResults = 5_000
)

// Options configures [Parse] and [Template.Render]. The zero value is useful.
type Options struct {
	// MaxBytes is the longest accepted path in bytes, from 1 to 1024 (the limit of an HTTPRoute path match). 0 means [DefaultMaxBytes].
	MaxBytes int
	// Encoded keeps the text of segments and percent-encodes the characters that RFC 3986 does not allow in one. Octets that the template
	// itself has encoded are kept; values are data, so their "%" becomes "%25". Without Encoded every segment becomes a DNS-1123 label:
	// lower case, other characters become "-", no "-" at either end, at most 63 bytes; empty segments are dropped.
	Encoded bool
	// AllowRoot accepts a path that collapses to "/", which takes every request of a listener. Without it that is an error.
	AllowRoot bool
	// Field names the template in error messages, such as "spec.routing.pathTemplate". Default "path template".
	Field string
	// Steps is the maximum number of values that one rendering may visit, over all expressions of the template and including struct fields;
	// 64 bytes of compared text count as one. 0 means 20,000, about a millisecond. Users write the templates, and a short one can be
	// expensive ("..", "*", lists of keys, filters). A template that exceeds the budget is rejected with an error that names the limit.
	Steps int
	// Results is the maximum number of intermediate results of an expression. 0 means 5,000.
	Results int
	// Cache holds compiled templates for reuse. Nil compiles on every [Parse].
	Cache *Cache
}

// orDefaults fills in the defaults.
func (o Options) orDefaults() Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Field == "" {
		o.Field = "path template"
	}
	o.Steps, o.Results = orDefault(o.Steps, defaultSteps), orDefault(o.Results, defaultResults)
	return o
}

func orDefault(value, otherwise int) int {
	if value == 0 {
		return otherwise
	}
	return value
}
