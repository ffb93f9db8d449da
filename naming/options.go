package naming

import "fmt"

// Form is the grammar that a derived name obeys. It is an [Option]; the default is [LabelForm].
type Form int

const (
	// LabelForm is a DNS label after RFC 1123 as Kubernetes reads it: lower-case letters, digits and dashes, a letter or digit at
	// both ends, at most [MaxLabel] characters. It fits the name of every kind.
	LabelForm Form = iota
	// SubdomainForm is a DNS subdomain: labels joined by dots, at most [MaxSubdomain] characters in all. Like the API server it
	// does not limit the single label.
	SubdomainForm
	// LabelValueForm is the value of a Kubernetes label: as [LabelForm], and dots and underscores inside; at most [MaxLabel].
	LabelValueForm
)

const (
	// MaxLabel is the longest DNS label and label value, in bytes (RFC 1123, section 2.1; Kubernetes: Object Names and IDs).
	MaxLabel = 63
	// MaxSubdomain is the longest DNS subdomain, in bytes.
	MaxSubdomain = 253
	// DefaultHashLength is the number of hexadecimal characters of a hash unless [HashLength] says otherwise: 48 bits. A million names
	// that differ in nothing but the hash collide with a probability of 0.2 percent (36 percent with 40 bits).
	DefaultHashLength = 12
	// MaxHashLength is the longest hash, a whole SHA-256.
	MaxHashLength = 64
)

// max is the longest name of the form.
func (f Form) max() int {
	if f == SubdomainForm {
		return MaxSubdomain
	}
	return MaxLabel
}

// ApplyToName implements [Option].
func (f Form) ApplyToName(options *Options) { options.Form = f }

// Option changes how [Derive] makes a name. Options are applied in order, a later one wins.
type Option interface {
	// ApplyToName writes the option into the options of one [Derive].
	ApplyToName(options *Options)
}

// Options is what the [Option] values of one [Derive] add up to.
type Options struct {
	// Form is the grammar of the name; the zero value is [LabelForm].
	Form Form
	// MaxLength is the longest name in bytes, what others append included. Unset it is as much as the form allows.
	MaxLength int
	limited   bool // MaxLength was set, if only to 0
	// Reserved is the number of bytes that others append to the name. 0 by default.
	Reserved int
	// HashLength is the number of hexadecimal characters of the hash. Derive presets it with [DefaultHashLength]; 0 turns hashes off.
	HashLength int
	// Inputs is what the hash covers beside the parts; any input makes a hash appear.
	Inputs []any
	// LetterFirst refuses a digit at the start.
	LetterFirst bool
}

// MaxLength limits the name to this many bytes, what [Reserve] and [ReserveLength] ask for included. It is at least 1 and at most
// what the form allows, which is the default.
type MaxLength int

// ApplyToName implements [Option].
func (m MaxLength) ApplyToName(options *Options) { options.MaxLength, options.limited = int(m), true }

// HashLength is the number of hexadecimal characters of the hash, 4 bits each, [DefaultHashLength] by default, at most [MaxHashLength].
//
// HashLength(0) turns hashes off. Such names are valid and bounded, but nothing tells apart those that sanitising, cutting or joining made
// equal: it is for callers that know their parts.
type HashLength int

// ApplyToName implements [Option].
func (h HashLength) ApplyToName(options *Options) { options.HashLength = int(h) }

// ReserveLength keeps this many bytes of the limit for what others append to the name. Of several reservations the longest counts.
type ReserveLength int

// ApplyToName implements [Option].
func (r ReserveLength) ApplyToName(options *Options) {
	if r < 0 || options.Reserved < 0 {
		options.Reserved = min(int(r), options.Reserved) // stays wrong, so that Derive says so
		return
	}
	options.Reserved = max(int(r), options.Reserved)
}

// Reserve keeps room for whichever of these suffixes is appended to the name, dashes and dots included. A platform that serves a name
// as "{name}-worker-{namespace}" wants Reserve("-worker-" + namespace). No suffix reserves nothing.
func Reserve(suffixes ...string) ReserveLength {
	longest := 0
	for _, s := range suffixes {
		longest = max(longest, len(s))
	}
	return ReserveLength(longest)
}

// Inputs is the list of values that a hash covers beside the parts. Make it with [HashInputs].
type Inputs []any

// ApplyToName implements [Option]. Inputs given by several options add up, in order.
func (i Inputs) ApplyToName(options *Options) {
	if len(options.Inputs) == 0 {
		options.Inputs = i
		return
	}
	options.Inputs = append(options.Inputs[:len(options.Inputs):len(options.Inputs)], i...)
}

// HashInputs tells twins apart: names of equal parts and different inputs differ in the hash. An input is any value that encoding/json
// can write; two inputs are the same when their JSON is (the order of map keys does not count, that of list elements does).
func HashInputs(values ...any) Inputs { return values }

// Start is a rule for the first character of a name. It is an [Option]; the default is StartWithAny.
type Start int

const (
	// StartWithAny allows what RFC 1123 allows, a letter or a digit.
	StartWithAny Start = iota
	// StartWithLetter puts an "x" before a digit at the start (and a hash at the end, because the name was changed), for kinds that obey
	// RFC 1035: Services, and what becomes one.
	StartWithLetter
)

// ApplyToName implements [Option].
func (s Start) ApplyToName(options *Options) { options.LetterFirst = s == StartWithLetter }

var (
	_ Option = LabelForm
	_ Option = MaxLength(0)
	_ Option = HashLength(0)
	_ Option = ReserveLength(0)
	_ Option = Inputs(nil)
	_ Option = StartWithAny
)

// OptionError reports an option that no name can satisfy. It depends on the options alone, never on the parts.
type OptionError struct {
	// Option is the option in words of the package: maxLength, hashLength, reserveLength.
	Option string
	// Value is what was given.
	Value int
	// Want reports what would be right.
	Want string
}

// Error implements error.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s must be %s, got %d", e.Option, e.Want, e.Value)
}

// limit checks the options and returns the longest name that they allow.
func (o *Options) limit() (int, error) {
	if o.Form < LabelForm || o.Form > LabelValueForm {
		return 0, &OptionError{Option: "form", Value: int(o.Form), Want: "LabelForm, SubdomainForm or LabelValueForm"}
	}
	longest := o.Form.max()
	if o.limited || o.MaxLength != 0 {
		if o.MaxLength < 1 || o.MaxLength > longest {
			return 0, &OptionError{Option: "maxLength", Value: o.MaxLength, Want: fmt.Sprintf("between 1 and %d", longest)}
		}
		longest = o.MaxLength
	}
	if o.HashLength < 0 || o.HashLength > MaxHashLength {
		return 0, &OptionError{Option: "hashLength", Value: o.HashLength, Want: fmt.Sprintf("between 0 and %d", MaxHashLength)}
	}
	shortest := 1
	if o.HashLength > 0 {
		shortest = o.HashLength + 2
	}
	if longest < shortest {
		return 0, &OptionError{
			Option: "hashLength", Value: o.HashLength,
			Want: fmt.Sprintf("at most %d, for a character and a dash before it in a name of %d", max(longest-2, 0), longest),
		}
	}
	if o.Reserved < 0 || o.Reserved > longest-shortest {
		return 0, &OptionError{
			Option: "reserveLength", Value: o.Reserved,
			Want: fmt.Sprintf("between 0 and %d, for a name of %d with a hash of %d", longest-shortest, longest, o.HashLength),
		}
	}
	return longest - o.Reserved, nil
}
