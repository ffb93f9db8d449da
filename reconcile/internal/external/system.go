package external

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/reconcilekit/reconcilekit/health"
)

// ErrNotFound is the error that [System.Observe] returns, possibly wrapped, for a resource that does not exist.
var ErrNotFound = errors.New("not found")

// ErrSystemGone is the error that the methods of a [System] return, possibly wrapped, if the system of the key no longer exists, and its
// resources with it, for example because its namespace is being deleted. Remove then counts as done. Observe and Ensure fail with the
// reason ExternalSystemGone. Do not return it for a system that does not respond.
var ErrSystemGone = errors.New("the external system no longer exists")

// System accesses the external resources of one kind. A key identifies one resource permanently. Several workers call the methods
// concurrently, each with a context that ends after [Options.Timeout]. S is the planned state of a resource, O the observed state. O is
// converted to JSON and back before a phase gets it: unexported fields are lost.
type System[S, O any] interface {
	// Observe returns the resource with the key, or [ErrNotFound]. It must not change anything.
	Observe(ctx context.Context, key string) (O, error)
	// Ensure creates the resource or updates it to match spec, and returns its state. It must be idempotent: it is called again if the
	// response of an earlier call was lost.
	Ensure(ctx context.Context, key string, spec S) (O, error)
	// Remove removes the resource. A missing resource is not an error.
	Remove(ctx context.Context, key string) error
	// UpToDate reports whether the observed state matches spec, so that Ensure is not called. It is a pure function.
	UpToDate(spec S, observed O) bool
}

// Watcher is implemented by a [System] that reports changes.
type Watcher interface {
	// Watch calls opened when a stream is open, and then changed with the key of each resource that is created, changed or removed, from any
	// goroutine, until the context ends. It returns when the stream breaks, and is called again after [Options.Rewatch]. opened enqueues all
	// owners that have observed a resource of the kind, because the stream does not report earlier changes.
	Watch(ctx context.Context, opened func(), changed func(key string)) error
}

// Defaults of [Options].
const (
	defaultTimeout  = 10 * time.Second
	defaultFailures = 5
	defaultOpen     = time.Second
	defaultRewatch  = 3 * time.Second
)

// Options configures a [Kind]. The zero value is useful.
type Options struct {
	// Timeout is the timeout of each call. Default 10 s.
	Timeout time.Duration
	// Rate is the average number of calls per second to one system, Burst the maximum number at once, at least 1. Calls beyond the limit
	// wait in the queue of the controller, not in a worker. Zero is no limit.
	Rate  float64
	Burst int
	// Failures is the number of consecutive failures of the category Infrastructure after which the circuit of a system opens: its calls
	// then fail without being sent. An error about one resource does not count. Default 5; a negative value never opens.
	Failures int
	// Open is the time for which a circuit first stays open. Each further failure doubles it, up to a minute. Then one call is sent as a
	// probe. Default 1 s.
	Open time.Duration
	// System returns the name of the system with the key, for a kind with several systems, such as one server per namespace. Rate and
	// circuit apply to each system. Nil is one system for all.
	System func(key string) string
	// Classify returns the category and the reason of an error of the system. If the category is empty, [health.Categorize] categorises the
	// error: it uses the category of a classified error, Infrastructure for network errors and Unknown for others. Timeouts and open
	// circuits are always Infrastructure. Optional.
	Classify func(err error) (category health.Category, reason string)
	// Permit returns an error if the owner may not have the resource with the key. It is called before a resource is ensured, and before one
	// in the owner's annotation is removed. Nil permits every key.
	Permit func(owner types.NamespacedName, key string) error
	// Exclusive states that Permit permits a key to only one owner, for example if the key is derived from the namespace and the name of the
	// owner. A key in the owner's annotation then needs no claim. Default false.
	Exclusive bool
	// Rewatch is the delay before a broken stream is opened again. Default 3 s.
	Rewatch time.Duration
}

func (o Options) orDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Failures == 0 {
		o.Failures = defaultFailures
	}
	if o.Open <= 0 {
		o.Open = defaultOpen
	}
	if o.Rewatch <= 0 {
		o.Rewatch = defaultRewatch
	}
	if o.System == nil {
		o.System = func(string) string { return "" }
	}
	if o.Permit == nil {
		o.Permit = func(types.NamespacedName, string) error { return nil }
	}
	o.Burst = max(o.Burst, 1)
	return o
}

// maxKey is the maximum length of a key, because the owner's annotation contains it.
const maxKey = 512

// checkName returns an error if the name of a kind is invalid.
func checkName(name string) error {
	if errs := validation.IsDNS1035Label(lower(name)); len(errs) > 0 {
		return errors.New("want a word such as Database: letters and digits, at most 63")
	}
	return nil
}
