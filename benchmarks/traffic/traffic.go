// Package traffic counts requests to an API server in the transport of the process, in the same way for every subject of the benchmark.
package traffic

import (
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Kind groups requests for the counts.
type Kind struct {
	// Verb is get, list, watch, create, update, patch, apply, delete, deletecollection or discovery. apply is a
	// server-side apply.
	Verb string
	// Resource is the plural name, such as "deployments"; empty for discovery.
	Resource string
	// Subresource is "status" and the like, or empty.
	Subresource string
	// DryRun reports that the server stored nothing.
	DryRun bool
	// Failed reports that the response was not a success.
	Failed bool
}

// Writes reports whether the request is a write.
func (k Kind) Writes() bool {
	return !k.DryRun && slices.Contains([]string{"create", "update", "patch", "apply", "delete", "deletecollection"}, k.Verb)
}

// String returns the kind in the format of the tables, such as "apply deployments/status (dry-run)".
func (k Kind) String() string {
	var b strings.Builder
	b.WriteString(k.Verb)
	if k.Resource != "" {
		b.WriteString(" " + k.Resource)
	}
	if k.Subresource != "" {
		b.WriteString("/" + k.Subresource)
	}
	if k.DryRun {
		b.WriteString(" (dry-run)")
	}
	if k.Failed {
		b.WriteString(" (failed)")
	}
	return b.String()
}

// Counter counts the requests of its transports. The zero value is ready for use.
type Counter struct {
	last atomic.Int64 // end of the last request that was not a watch, in nanoseconds since 1970

	mu     sync.Mutex
	counts map[Kind]int64
	sent   int64
}

// Wrap returns a transport that counts requests and passes them to next; it fits rest.Config.WrapTransport.
func (c *Counter) Wrap(next http.RoundTripper) http.RoundTripper {
	return transport{counter: c, next: next}
}

// Reset clears all counts.
func (c *Counter) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts, c.sent = nil, 0
	c.last.Store(0)
}

// Counts returns the number of requests of each kind since the last reset.
func (c *Counter) Counts() map[Kind]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[Kind]int64, len(c.counts))
	maps.Copy(out, c.counts)
	return out
}

// Sent returns the total size of the request bodies since the last reset.
func (c *Counter) Sent() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

// Last returns the time of the last response to a request other than a watch; the zero time if there was none since the reset.
func (c *Counter) Last() time.Time {
	if at := c.last.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

func (c *Counter) add(kind Kind, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[Kind]int64{}
	}
	c.counts[kind]++
	c.sent += max(bytes, 0)
}

type transport struct {
	counter *Counter
	next    http.RoundTripper
}

// RoundTrip counts the request when it receives the response's headers, and records the end of its body.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	kind := Classify(request)
	response, err := t.next.RoundTrip(request)
	kind.Failed = err != nil || response.StatusCode >= http.StatusBadRequest
	t.counter.add(kind, request.ContentLength)
	if kind.Verb != "watch" {
		t.counter.last.Store(time.Now().UnixNano())
		if err == nil {
			response.Body = &body{ReadCloser: response.Body, counter: t.counter}
		}
	}
	return response, err
}

type body struct {
	io.ReadCloser

	counter *Counter
}

// Close records the end of the response.
func (b *body) Close() error {
	b.counter.last.Store(time.Now().UnixNano())
	return b.ReadCloser.Close()
}

// Classify returns the kind of a request, by its path, see https://kubernetes.io/docs/reference/using-api/api-concepts/.
func Classify(request *http.Request) Kind {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	rest := resourceParts(parts)
	if len(rest) == 0 {
		return Kind{Verb: "discovery"}
	}
	if rest[0] == "namespaces" && len(rest) > 2 {
		rest = rest[2:]
	}
	kind := Kind{Resource: rest[0]}
	if len(rest) > 2 {
		kind.Subresource = rest[2]
	}
	query := request.URL.Query()
	kind.DryRun = query.Has("dryRun")
	kind.Verb = verb(request, len(rest) > 1, query.Get("watch"))
	return kind
}

// resourceParts returns the path below /api/v1 or /apis/group/version; nothing for other paths.
func resourceParts(parts []string) []string {
	switch {
	case len(parts) > 2 && parts[0] == "api":
		return parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		return parts[3:]
	}
	return nil
}

func verb(request *http.Request, named bool, watch string) string {
	switch request.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		media, _, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
		if err == nil && strings.HasPrefix(media, "application/apply-patch") {
			return "apply"
		}
		return "patch"
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	}
	switch {
	case watch == "true" || watch == "1":
		return "watch"
	case named:
		return "get"
	}
	return "list"
}
