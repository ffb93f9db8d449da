package requests

import (
	"net/http"

	internal "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/requests"
)

type (
	// Request is one request to the API server, as far as tests ask about it. It is comparable, so that it can be a map key.
	Request = internal.Request
	// Requests counts the requests that clients send to the API server, below every cache and client, and can make them
	// fail. The zero value is ready to use. It is safe for concurrent use.
	Requests = internal.Requests
	// Sent is a list of requests, in the order they were sent.
	Sent = internal.Sent
	// Fault is what happens to one request instead of its normal course: see [Requests].
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
