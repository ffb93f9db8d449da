package naming

import "fmt"

// nameForm is the grammar that a derived name obeys. It is an [Option].
type nameForm int

const (
	// labelForm, the default, is a DNS label after RFC 1123 as Kubernetes reads it: lower-case letters, digits and dashes, a letter or
	// digit at both ends, at most [MaxLabel] characters. The characters are valid for every kind; [ForKind] has the shorter limits of some.
	labelForm nameForm = iota
	// SubdomainForm is an [Option] for a DNS subdomain in the place of a label: labels joined by dots, at most 253 characters in all. Like
	// the API server it does not limit the single label.
	SubdomainForm
	// LabelValueForm is an [Option] for the value of a Kubernetes label: as a DNS label, and dots and underscores inside; at most
	// [MaxLabel] characters.
	LabelValueForm
)

const (
	// MaxLabel is the longest DNS label and label value, in bytes (RFC 1123, section 2.1; Kubernetes: Object Names and IDs).
	MaxLabel = 63

	maxSubdomain      = 253
	defaultHashLength = 12 // 48 bits
	maxHashLength     = 64 // a whole SHA-256
)

// max is the longest name of the form.
func (f nameForm) max() int {
	if f == SubdomainForm {
		return maxSubdomain
	}
	return MaxLabel
}

func (f nameForm) applyTo(o *options) { o.Form = f }

// Option changes how [Derive] makes a name: [MaxLength], [ForKind], [HashLength], [Reserve], [HashInputs], [SubdomainForm],
// [LabelValueForm] and [StartWithLetter]. Options are applied in order, a later one wins.
type Option interface {
	applyTo(o *options)
}

// options is what the [Option] values of one [Derive] add up to.
type options struct {
	// Form is the grammar of the name; the zero value is a DNS label.
	Form nameForm
	// MaxLength is the longest name in bytes, what others append included. Unset it is as much as the form allows.
	MaxLength int
	limited   bool // MaxLength was set, if only to 0
	// KindLimit is the shortest limit of the kinds that the name is for. 0 is none.
	KindLimit int
	// Reserved is the number of bytes that others append to the name. 0 by default.
	Reserved int
	// HashLength is the number of hexadecimal characters of the hash. Derive presets it with 12; 0 turns hashes off.
	HashLength int
	// Inputs is what the hash covers beside the parts; any input makes a hash appear.
	Inputs []any
	// LetterFirst refuses a digit at the start.
	LetterFirst bool
}

// MaxLength limits the name to this many bytes, what [Reserve] asks for included. It is at least 1 and at most
// what the form and [ForKind] allow, which is the default.
type MaxLength int

func (m MaxLength) applyTo(o *options) { o.MaxLength, o.limited = int(m), true }

// HashLength is the number of hexadecimal characters of the hash, 4 bits each, at most 64. The default is 12: a million
// names that differ in nothing but the hash collide with a probability of 0.2 percent (36 percent with a length of 10).
//
// HashLength(0) turns hashes off. Such names are valid and bounded, but nothing distinguishes those that sanitising, cutting or joining made
// equal: it is for callers that know their parts.
type HashLength int

func (h HashLength) applyTo(o *options) { o.HashLength = int(h) }

// reservation keeps this many bytes of the limit for what others append to the name. Of several reservations the longest counts.
type reservation int

func (r reservation) applyTo(o *options) {
	if r < 0 || o.Reserved < 0 {
		o.Reserved = min(int(r), o.Reserved) // stays wrong, so that Derive says so
		return
	}
	o.Reserved = max(int(r), o.Reserved)
}

// Reserve keeps room for whichever of these suffixes is appended to the name, dashes and dots included. A platform that serves a name
// as "{name}-worker-{namespace}" wants Reserve("-worker-" + namespace). No suffix reserves nothing.
func Reserve(suffixes ...string) Option {
	longest := 0
	for _, s := range suffixes {
		longest = max(longest, len(s))
	}
	return reservation(longest)
}

// hashInputs are the values that a hash covers beside the parts.
type hashInputs []any

// Inputs given by several options add up, in order.
func (i hashInputs) applyTo(o *options) {
	if len(o.Inputs) == 0 {
		o.Inputs = i
		return
	}
	o.Inputs = append(o.Inputs[:len(o.Inputs):len(o.Inputs)], i...)
}

// HashInputs distinguishes twins: names of equal parts and different inputs differ in the hash. An input is any value that encoding/json
// can write; two inputs are the same when their JSON is (the order of map keys does not count, that of list elements does).
func HashInputs(values ...any) Option { return hashInputs(values) }

// startRule is a rule for the first character of a name.
type startRule int

// StartWithLetter is an [Option] that puts an "x" before a digit at the start (and a hash at the end, because the name was changed), for
// kinds that obey RFC 1035: Services, and what becomes one. Without it a name starts with a letter or a digit, as RFC 1123 allows.
const StartWithLetter startRule = 1

func (startRule) applyTo(o *options) { o.LetterFirst = true }

// optionError reports an option that no name can satisfy. It depends on the options alone, never on the parts.
type optionError struct {
	// Option is the option in words of the package: maxLength, hashLength, reserveLength.
	Option string
	// Value is what was given.
	Value int
	// Want reports what would be right.
	Want string
}

// Error implements error.
func (e *optionError) Error() string {
	return fmt.Sprintf("%s must be %s, got %d", e.Option, e.Want, e.Value)
}

// limit checks the options and returns the longest name that they allow.
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
