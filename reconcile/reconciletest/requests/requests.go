package requests

import (
	"net/http"

	internal "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
)

type (
	// Request is one request to the API server, as far as tests ask about it. It is comparable, so that it can be a map key.
	//
	//	type Request struct {
	//		// Verb is what the request does: get, list, watch, create, update, patch,
	//		// apply, delete or deletecollection. Server-side apply is apply; the API
	//		// server's own authorisation calls it patch.
	//		Verb string
	//		// Group is the API group; empty for the core group.
	//		Group string
	//		// Resource is the plural resource name. It is empty for requests that name
	//		// no resource, such as discovery; these have a Path instead.
	//		Resource string
	//		// Subresource is for example status; empty for the object itself.
	//		Subresource string
	//		// Namespace is empty for cluster-scoped objects and for requests across
	//		// namespaces.
	//		Namespace string
	//		// Name is empty for requests about a collection, and for a create: the name
	//		// is in its body.
	//		Name string
	//		// FieldManager is the field manager that a write names; empty otherwise.
	//		FieldManager string
	//		// Path is set only when Resource is empty.
	//		Path string
	//		// DryRun reports that the server is asked to store nothing.
	//		DryRun bool
	//		// Informer reports that the request keeps a cache: a watch, or a list that
	//		// accepts cached data by naming a resource version.
	//		Informer bool
	//	}
	//
	//	// IsWrite reports whether the request changes something that is stored. A dry
	//	// run does not.
	//	func (r Request) IsWrite() bool
	//
	//	// String returns the request as one line for a failure message, for example
	//	// `apply apps/deployments shop/web`.
	//	func (r Request) String() string
	Request = internal.Request
	// Requests counts the requests that clients send to the API server, below every cache and client, and can make them
	// fail. The zero value is ready to use. It is safe for concurrent use.
	//
	//	type Requests struct {
	//		// contains filtered or unexported fields
	//	}
	//
	//	// Inject asks hook about every following request; a fault that it returns
	//	// happens, nil lets the request pass. A nil hook ends it. The hook may be
	//	// called by several goroutines at once.
	//	func (r *Requests) Inject(hook func(Request) *Fault)
	//
	//	// Observe returns a copy of config whose clients are counted. Wrappers that
	//	// config has already stay below.
	//	func (r *Requests) Observe(config *rest.Config) *rest.Config
	//
	//	// Reset forgets what was counted. The hook stays.
	//	func (r *Requests) Reset()
	//
	//	// RoundTripper returns a transport that counts and passes on to next. It has
	//	// the signature of [rest.Config.WrapTransport]. Next must not be nil.
	//	func (r *Requests) RoundTripper(next http.RoundTripper) http.RoundTripper
	//
	//	// Snapshot returns what was sent since the start or the last Reset, in the
	//	// order of sending, failed requests included.
	//	func (r *Requests) Snapshot() Sent
	Requests = internal.Requests
	// Sent is a list of requests, in the order they were sent.
	//
	//	type Sent []Request
	//
	//	// Counts returns how often each combination of verb, group, resource,
	//	// subresource and dry run occurs; namespace, name and field manager are left
	//	// empty in the keys.
	//	func (s Sent) Counts() map[Request]int
	//
	//	// String returns one line per combination of [Sent.Counts], sorted, for
	//	// failure messages. No request gives "no requests".
	//	func (s Sent) String() string
	//
	//	// Where returns the requests that match all filters, in order.
	//	func (s Sent) Where(filters ...func(Request) bool) Sent
	//
	//	// WithoutInformers returns the requests that a reconciler caused itself: no
	//	// watches, no lists that fill caches, no discovery.
	//	func (s Sent) WithoutInformers() Sent
	//
	//	// Writes returns the requests that change something that is stored.
	//	func (s Sent) Writes() Sent
	Sent = internal.Sent
	// Fault is what happens to one request instead of its normal course: see [Requests].
	//
	//	type Fault struct {
	//		// Err is what the client gets. An API error, made for example with
	//		// [apierrors.NewConflict], arrives as an answer of the server; any other
	//		// error as a failure of the connection. Nil is the same as a connection
	//		// that was reset.
	//		Err error
	//		// Committed lets the request reach the server first, so that its effect is
	//		// stored and only the answer is lost.
	//		Committed bool
	//	}
	Fault = internal.Fault
)

// ParseRequest reads what an HTTP request asks of a Kubernetes API server. The paths are those of the Kubernetes API
// concepts page: /api/v1/... for the core group and /apis/<group>/<version>/... for the others, below any prefix that a
// proxy adds. Anything else is a request without a resource.
func ParseRequest(request *http.Request) Request { return internal.ParseRequest(request) }

// Verb returns a filter that matches requests of one of the verbs.
func Verb(verbs ...string) func(Request) bool { return internal.Verb(verbs...) }

// Resource returns a filter that matches requests about a resource or one of its subresources; group is empty for the
// core group.
func Resource(group, resource string) func(Request) bool { return internal.Resource(group, resource) }

// Subresource returns a filter that matches requests about the subresource; the empty name matches requests about whole
// objects.
func Subresource(name string) func(Request) bool { return internal.Subresource(name) }
