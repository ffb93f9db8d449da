package naming

// The bytes of hashes and both implementations of parsing and encoding, for tests that compare them.

// HashImage returns the bytes that a hash covers.
func HashImage(parts []string, inputs ...any) ([]byte, error) { return appendImage(nil, parts, inputs) }

// PlainImage is the fast implementation of [ParseImage].
func PlainImage(ref string) (Image, bool) { return plainImage(ref) }

// LibraryImage is the implementation of [ParseImage] with the reference library.
func LibraryImage(ref string) (Image, error) { return libraryImage(ref) }

// JSONInput encodes a hash input with encoding/json.
func JSONInput(v any) ([]byte, error) { return appendJSON(nil, v) }

// ShortInput encodes a hash input with the fast path of its type, if there is one.
func ShortInput(v any) ([]byte, error) { return appendInput(nil, v) }

// Form is the type of name forms.
type Form = nameForm

// OptionError is the type of errors about options.
type OptionError = optionError

// The default form, and limits.
const (
	LabelForm    = labelForm
	MaxSubdomain = maxSubdomain
)

// ReserveLength reserves the length of a suffix, as [Reserve] does.
func ReserveLength(n int) Option { return reservation(n) }
