package naming

// Image bytes and the two ways to take a reference apart, for tests of what they promise.

// HashImage returns the bytes that a hash covers.
func HashImage(parts []string, inputs ...any) ([]byte, error) { return appendImage(nil, parts, inputs) }

// PlainImage is the quick way of [ParseImage].
func PlainImage(ref string) (Image, bool) { return plainImage(ref) }

// LibraryImage is the way of [ParseImage] through the library.
func LibraryImage(ref string) (Image, error) { return libraryImage(ref) }

// JSONInput encodes a hash input the long way, through encoding/json.
func JSONInput(v any) ([]byte, error) { return appendJSON(nil, v) }

// ShortInput encodes a hash input the way that its type takes.
func ShortInput(v any) ([]byte, error) { return appendInput(nil, v) }

// Form is the type of the forms.
type Form = nameForm

// OptionError is the type of errors about options.
type OptionError = optionError

// The form that is the default, and limits.
const (
	LabelForm    = labelForm
	MaxSubdomain = maxSubdomain
)

// ReserveLength is [Reserve] for a suffix of this length.
func ReserveLength(n int) Option { return reservation(n) }
