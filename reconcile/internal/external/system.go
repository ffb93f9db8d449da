package external

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/reconcilekit/reconcilekit/health"
)

// ErrNotFound is what [System.Observe] answers, alone or wrapped, for a thing that does not exist.
var ErrNotFound = errors.New("not found")

// ErrSystemGone is what the methods of a [System] return, alone or wrapped, when the system of the key no longer exists, and its resources with it, such as
// when its namespace is being deleted. Remove then counts as done. Observe and Ensure fail with the reason ExternalSystemGone. A system that does not
// answer is no reason to return it.
var ErrSystemGone = errors.New("the external system no longer exists")

// System reaches the things of one kind outside of the cluster. A key names one thing, for ever. The methods are called by several
// workers at a time, each with a context that ends after [Options.Timeout]. S is what a plan says of a thing, O what there is.
type System[S, O any] interface {
	// Observe returns what there is under the key, or [ErrNotFound]. It changes nothing.
	Observe(ctx context.Context, key string) (O, error)
	// Ensure makes the thing as spec says, whatever there is, and returns what there is then. It may be called again for the same,
	// also when an earlier call has done its work and its answer was lost.
	Ensure(ctx context.Context, key string, spec S) (O, error)
	// Remove removes the thing. That it does not exist is no error.
	Remove(ctx context.Context, key string) error
	// UpToDate reports whether what was observed is as spec says, so that Ensure is not called. It is a pure function.
	UpToDate(spec S, observed O) bool
}

// Watcher is implemented by a [System] that learns of changes.
type Watcher interface {
	// Watch calls opened when a stream is open, and from then on changed with the key of each thing that appears, changes or goes, from any
	// goroutine, until the context ends. It returns when the stream is broken, and is called again after [Options.Rewatch]. With opened all
	// owners that have observed something of the kind are reconciled: what has changed since they did, no stream tells.
	Watch(ctx context.Context, opened func(), changed func(key string)) error
}

// Defaults of [Options].
const (
	defaultTimeout  = 10 * time.Second
	defaultFailures = 5
	defaultOpen     = time.Second
	defaultRewatch  = 3 * time.Second
)

// Options are the settings of a [Kind]. The zero value works.
type Options struct {
	// Timeout ends each call. Default 10 s.
	Timeout time.Duration
	// Rate is how many calls a second one system is sent on average, Burst how many at once at least 1. What exceeds it waits in the
	// queue of the controller, not in a worker. Zero is no limit.
	Rate  float64
	Burst int
	// Failures is after how many failures in a row, of the category Infrastructure, the circuit of a system opens: its calls fail without
	// being sent. What is wrong with one thing counts for nobody else. Default 5; negative never opens.
	Failures int
	// Open is how long a circuit stays open the first time; each further failure doubles it, up to a minute. Then one call is let
	// through. Default 1 s.
	Open time.Duration
	// System names the system that has the thing of a key, where a kind is spread over several, such as one server a namespace. Rate
	// and circuit are counted for each. Nil is one for all.
	System func(key string) string
	// Classify returns the category and the reason of an error of the system. An empty category leaves the error to
	// [health.Categorize], which takes an error that knows its category at its word; one of the network is Infrastructure, others are
	// Unknown. Errors of deadlines and of open circuits are Infrastructure and are not asked for. Nil leaves all.
	Classify func(err error) (category health.Category, reason string)
	// Permit returns why the owner may not have the thing of the key, nil when it may. It is asked before a thing is ensured, and
	// before one is removed that the annotation of an owner names. Nil permits every key.
	Permit func(owner types.NamespacedName, key string) error
	// Exclusive states that Permit permits a key to one owner only, such as where the key follows from the namespace and the name of the
	// owner. Permit is then proof enough for a key that the annotation of an owner names and that has no claim. Default false.
	Exclusive bool
	// Rewatch is the pause before a broken stream is opened again. Default 3 s.
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

// maxKey bounds a key: the annotation of an owner has to hold it.
const maxKey = 512

// checkName reports why a word cannot be the name of a kind.
func checkName(name string) error {
	if errs := validation.IsDNS1035Label(lower(name)); len(errs) > 0 {
		return errors.New("want a word such as Database: letters and digits, at most 63")
	}
	return nil
}
