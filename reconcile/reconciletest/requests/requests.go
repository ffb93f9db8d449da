package requests

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Requests counts the requests that clients send to the API server, below every cache and client, and can inject faults. The zero value
// is ready to use. It is safe for concurrent use.
type Requests struct {
	mu     sync.Mutex
	sent   []Request
	inject func(Request) *Fault
}

// Observe returns a copy of config whose clients are counted. Existing wrappers of config remain below.
func (r *Requests) Observe(config *rest.Config) *rest.Config {
	observed := rest.CopyConfig(config)
	observed.Wrap(r.RoundTripper)

	return observed
}

// RoundTripper returns a transport that counts requests and passes them to next. It has the signature of [rest.Config.WrapTransport].
// next must not be nil.
func (r *Requests) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return &recorder{requests: r, next: next}
}

// Inject calls hook for every following request. The hook returns a fault, or nil to send the request. A nil hook ends the injection.
// Several goroutines may call the hook concurrently.
func (r *Requests) Inject(hook func(Request) *Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.inject = hook
}

// Reset clears the counted requests. It keeps the hook.
func (r *Requests) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.sent = nil
}

// Snapshot returns the requests since the start or the last Reset, in the order of sending, including failed requests.
func (r *Requests) Snapshot() Sent {
	r.mu.Lock()
	defer r.mu.Unlock()

	return slices.Clone(r.sent)
}

// record records a request and returns its fault, if any.
func (r *Requests) record(request Request) *Fault {
	r.mu.Lock()
	r.sent = append(r.sent, request)
	hook := r.inject
	r.mu.Unlock()

	if hook == nil {
		return nil
	}

	return hook(request)
}

// Sent is a list of requests in the order of sending.
type Sent []Request

// Where returns the requests that match all filters, in order.
func (s Sent) Where(filters ...func(Request) bool) Sent {
	var kept Sent

	for _, request := range s {
		if !slices.ContainsFunc(filters, func(match func(Request) bool) bool { return !match(request) }) {
			kept = append(kept, request)
		}
	}

	return kept
}

// Writes returns the requests that change stored data.
func (s Sent) Writes() Sent { return s.Where(Request.IsWrite) }

// WithoutInformers returns the reconciler's own requests: no watches, no lists that fill caches, no discovery.
func (s Sent) WithoutInformers() Sent {
	return s.Where(func(r Request) bool { return !r.Informer && r.Resource != "" })
}

// Counts returns the count of each combination of verb, group, resource, subresource and dry run; namespace, name and field manager are
// empty in the keys.
func (s Sent) Counts() map[Request]int {
	counts := make(map[Request]int, len(s))

	for _, request := range s {
		request.Namespace, request.Name, request.FieldManager = "", "", ""
		counts[request]++
	}

	return counts
}

// String returns one line for each combination of [Sent.Counts], sorted, for failure messages. Without requests it returns "no requests".
func (s Sent) String() string {
	counts := s.Counts()
	if len(counts) == 0 {
		return "no requests"
	}

	lines := make([]string, 0, len(counts))
	for _, request := range slices.SortedFunc(maps.Keys(counts), compareRequests) {
		lines = append(lines, fmt.Sprintf("%d %s", counts[request], request))
	}

	return strings.Join(lines, "\n")
}

// Verb returns a filter that matches requests with one of the verbs.
func Verb(verbs ...string) func(Request) bool {
	return func(r Request) bool { return slices.Contains(verbs, r.Verb) }
}

// Resource returns a filter that matches requests about a resource or one of
// its subresources; group is empty for the core group.
func Resource(group, resource string) func(Request) bool {
	return func(r Request) bool {
		return cmp.Or(cmp.Compare(r.Group, group), cmp.Compare(r.Resource, resource)) == 0
	}
}

// Subresource returns a filter that matches requests about the subresource; the empty name matches requests about entire objects.
func Subresource(name string) func(Request) bool {
	return func(r Request) bool { return r.Subresource == name }
}
