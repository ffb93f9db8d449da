package pathtemplate

// DefaultMaxBytes is the longest path, in bytes, that a template may give unless [Options] say otherwise.
const DefaultMaxBytes = 200

// Defaults of the budget.
const (
	defaultSteps   = 20_000
	defaultResults = 5_000
)

// Options change how [Parse] reads a template and how [Template.Render] renders it. The zero value is useful.
type Options struct {
	// MaxBytes is the longest accepted path in bytes, from 1 to 1024 (the limit of an HTTPRoute path match). 0 means [DefaultMaxBytes].
	MaxBytes int
	// Encoded keeps the text of segments and percent-encodes what RFC 3986 does not allow in one. Octets that the template itself has
	// encoded stay as they are; values are data, so their "%" becomes "%25". Without it every segment becomes a DNS-1123 label: lower
	// case, other characters become "-", no "-" at either end, at most 63 bytes; segments that vanish are dropped.
	Encoded bool
	// AllowRoot accepts a path that collapses to "/", which takes every request of a listener. Without it that is an error.
	AllowRoot bool
	// Field is what error messages call the template, such as "spec.routing.pathTemplate". Empty means "path template".
	Field string
	// Steps is how many values one rendering may visit, all expressions of the template together, struct fields looked at included; 64 bytes
	// of text that is compared count as one. 0 means 20,000, about a millisecond. Templates are written by users, and a short one can
	// ask for a lot ("..", "*", lists of keys, filters); one that exceeds the budget is refused with an error that names the limit.
	Steps int
	// Results is how many values an expression may hold at once, on its way to the single one that it must give. 0 means 5,000.
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
