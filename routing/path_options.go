package routing

// DefaultMaxBytes is the longest path, in bytes, that a template may give unless [MaxBytes] says otherwise.
const DefaultMaxBytes = 200

// PathOptions are what [PathOption] values set; the zero value of a field means its default.
type PathOptions struct {
	// MaxBytes is the longest accepted result in bytes, from 1 to 1024. 0 means [DefaultMaxBytes].
	MaxBytes int
	// Segments reports what becomes of characters that are not DNS-safe. Default [DNSSegments].
	Segments SegmentMode
	// Root reports whether the result may be "/". Default [RejectRoot].
	Root RootPolicy
	// Field is what messages call the template. Default "path template".
	Field string
	// Budget limits what one rendering may do. Its zero fields mean their defaults.
	Budget PathBudget
	// Cache holds compiled templates for reuse. Nil compiles on every [ParsePath].
	Cache *PathCache
}

// PathOption changes how [ParsePath] reads a template and how [PathTemplate.Render] renders it.
type PathOption interface {
	ApplyToPath(options *PathOptions)
}

// MaxBytes limits the rendered path, in bytes, from 1 to 1024 (the limit of an HTTPRoute path match).
type MaxBytes int

// ApplyToPath implements [PathOption].
func (m MaxBytes) ApplyToPath(options *PathOptions) { options.MaxBytes = int(m) }

// SegmentMode reports how text becomes path segments.
type SegmentMode int

const (
	// DNSSegments makes every segment a DNS-1123 label: lower case, other characters become "-", no "-" at either end, at
	// most 63 bytes. Segments that vanish are dropped.
	DNSSegments SegmentMode = iota
	// EncodedSegments keeps the text and percent-encodes what RFC 3986 does not allow in a segment. Octets that the
	// template itself has encoded stay as they are; values are data, so their "%" becomes "%25".
	EncodedSegments
)

// ApplyToPath implements [PathOption].
func (m SegmentMode) ApplyToPath(options *PathOptions) { options.Segments = m }

// RootPolicy reports whether a path may collapse to "/", which takes every request of a listener.
type RootPolicy int

const (
	// RejectRoot makes "/" an error.
	RejectRoot RootPolicy = iota
	// AllowRoot accepts "/".
	AllowRoot
)

// ApplyToPath implements [PathOption].
func (r RootPolicy) ApplyToPath(options *PathOptions) { options.Root = r }

// Field is what error messages call the template, such as "spec.routing.pathTemplate".
type Field string

// ApplyToPath implements [PathOption].
func (f Field) ApplyToPath(options *PathOptions) { options.Field = string(f) }

// pathOptions applies options over the defaults.
func pathOptions(opts []PathOption) PathOptions {
	options := PathOptions{}
	for _, opt := range opts {
		opt.ApplyToPath(&options)
	}
	if options.MaxBytes == 0 {
		options.MaxBytes = DefaultMaxBytes
	}
	options.Budget = options.Budget.orDefaults()
	if options.Field == "" {
		options.Field = "path template"
	}
	return options
}
