package naming

import "fmt"

// nameForm is the grammar of a derived name. It is an [Option].
type nameForm int

const (
	// labelForm, the default, is a DNS label (RFC 1123) as Kubernetes defines it: lower-case letters, digits and dashes, a letter or digit
	// at both ends, at most [MaxLabel] characters. The characters are valid for every kind; [ForKind] applies the shorter limits of some
	// kinds.
	labelForm nameForm = iota
	// SubdomainForm is an [Option] for a DNS subdomain instead of a label: labels joined by dots, at most 253 characters in total. Like the
	// API server, it does not limit a single label.
	SubdomainForm
	// LabelValueForm is an [Option] for the value of a Kubernetes label: a DNS label that may also contain dots and underscores, at most
	// [MaxLabel] characters.
	LabelValueForm
)

const (
	// MaxLabel is the longest DNS label and label value, in bytes (RFC 1123, section 2.1; Kubernetes: Object Names and IDs).
	MaxLabel = 63

	maxSubdomain      = 253
	defaultHashLength = 12 // 48 bits
	maxHashLength     = 64 // an entire SHA-256
)

// max returns the maximum length of the form.
func (f nameForm) max() int {
	if f == SubdomainForm {
		return maxSubdomain
	}
	return MaxLabel
}

func (f nameForm) applyTo(o *options) { o.Form = f }

// Option changes the name that [Derive] returns: [MaxLength], [ForKind], [HashLength], [Reserve], [HashInputs], [SubdomainForm],
// [LabelValueForm] and [StartWithLetter]. Options are applied in order; a later option overrides an earlier one.
type Option interface {
	applyTo(o *options)
}

// options is the sum of the [Option] values of one [Derive].
type options struct {
	// Form is the grammar of the name; the zero value is a DNS label.
	Form nameForm
	// MaxLength is the maximum length in bytes, including the reservation. Default: the limit of the form.
	MaxLength int
	limited   bool // MaxLength was set, even to 0
	// KindLimit is the shortest limit of the given kinds; 0 for none.
	KindLimit int
	// Reserved is the number of bytes reserved for suffixes. Default 0.
	Reserved int
	// HashLength is the number of hexadecimal characters of the hash. Default 12; 0 disables hashes.
	HashLength int
	// Inputs are hashed in addition to the parts; any input adds a hash.
	Inputs []any
	// LetterFirst forbids a digit at the start.
	LetterFirst bool
}

// MaxLength limits the name to this many bytes, including the bytes of [Reserve]. It is at least 1 and at most the limit of the form and
// of [ForKind], which is the default.
type MaxLength int

func (m MaxLength) applyTo(o *options) { o.MaxLength, o.limited = int(m), true }

// HashLength is the number of hexadecimal characters of the hash, 4 bits each, at most 64. The default is 12: a million names that differ
// only in the hash collide with a probability of 0.2 percent (36 percent with a length of 10).
//
// HashLength(0) disables hashes. The names are valid and bounded, but inputs that become equal when sanitised, truncated or joined give
// the same name.
type HashLength int

func (h HashLength) applyTo(o *options) { o.HashLength = int(h) }

// reservation reserves this many bytes of the limit for suffixes. The largest reservation applies.
type reservation int

func (r reservation) applyTo(o *options) {
	if r < 0 || o.Reserved < 0 {
		o.Reserved = min(int(r), o.Reserved) // keeps the invalid value, so that Derive reports it
		return
	}
	o.Reserved = max(int(r), o.Reserved)
}

// Reserve reserves space for the longest of these suffixes, including dashes and dots. A platform that serves a name as
// "{name}-worker-{namespace}" needs Reserve("-worker-" + namespace). Without a suffix, nothing is reserved.
func Reserve(suffixes ...string) Option {
	longest := 0
	for _, s := range suffixes {
		longest = max(longest, len(s))
	}
	return reservation(longest)
}

// hashInputs are values hashed in addition to the parts.
type hashInputs []any

// The inputs of several options are concatenated, in order.
func (i hashInputs) applyTo(o *options) {
	if len(o.Inputs) == 0 {
		o.Inputs = i
		return
	}
	o.Inputs = append(o.Inputs[:len(o.Inputs):len(o.Inputs)], i...)
}

// HashInputs adds values to the hash: names of equal parts and different inputs differ in the hash. An input is any value that
// encoding/json can encode. Two inputs are equal if their JSON is; the order of map keys does not matter, that of list elements does.
func HashInputs(values ...any) Option { return hashInputs(values) }

// startRule is a rule for the first character of a name.
type startRule int

// StartWithLetter is an [Option] that puts an "x" before a digit at the start (and a hash at the end, because the name was changed). Use
// it for kinds that follow RFC 1035, such as Services. Without it a name starts with a letter or a digit, as RFC 1123 allows.
const StartWithLetter startRule = 1

func (startRule) applyTo(o *options) { o.LetterFirst = true }

// optionError reports an option that no name can satisfy. It depends only on the options, not on the parts.
type optionError struct {
	// Option is the name of the option: maxLength, hashLength, reserveLength.
	Option string
	// Value is the given value.
	Value int
	// Want describes the accepted values.
	Want string
}

// Error implements error.
func (e *optionError) Error() string {
	return fmt.Sprintf("%s must be %s, got %d", e.Option, e.Want, e.Value)
}

// limit checks the options and returns the maximum length of a name.
func (o *options) limit() (int, error) {
	if o.Form < labelForm || o.Form > LabelValueForm {
		return 0, &optionError{Option: "form", Value: int(o.Form), Want: "SubdomainForm, LabelValueForm or none"}
	}
	longest := o.Form.max()
	if o.KindLimit > 0 {
		longest = min(longest, o.KindLimit)
	}
	if o.limited || o.MaxLength != 0 {
		if o.MaxLength < 1 || o.MaxLength > longest {
			return 0, &optionError{Option: "maxLength", Value: o.MaxLength, Want: fmt.Sprintf("between 1 and %d", longest)}
		}
		longest = o.MaxLength
	}
	if o.HashLength < 0 || o.HashLength > maxHashLength {
		return 0, &optionError{Option: "hashLength", Value: o.HashLength, Want: fmt.Sprintf("between 0 and %d", maxHashLength)}
	}
	shortest := 1
	if o.HashLength > 0 {
		shortest = o.HashLength + 2
	}
	if longest < shortest {
		return 0, &optionError{
			Option: "hashLength", Value: o.HashLength,
			Want: fmt.Sprintf("at most %d, for a character and a dash before it in a name of %d", max(longest-2, 0), longest),
		}
	}
	if o.Reserved < 0 || o.Reserved > longest-shortest {
		return 0, &optionError{
			Option: "reserveLength", Value: o.Reserved,
			Want: fmt.Sprintf("between 0 and %d, for a name of %d with a hash of %d", longest-shortest, longest, o.HashLength),
		}
	}
	return longest - o.Reserved, nil
}
