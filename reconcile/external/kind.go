package external

import internal "github.com/reconcilekit/reconcilekit/reconcile/internal/external"

// ErrNotFound is what the method Observe of a [System] answers, alone or wrapped, for a thing that does not exist.
var ErrNotFound = internal.ErrNotFound

// ErrSystemGone is what the methods of a [System] return, alone or wrapped, when the system of the key no longer exists, and its resources with it, such as
// when its namespace is being deleted. Remove then counts as done. Observe and Ensure fail with the reason ExternalSystemGone. A system that does not
// answer is no reason to return it.
var ErrSystemGone = internal.ErrSystemGone

// The verbs of a [Call].
const (
	VerbObserve = internal.VerbObserve
	VerbEnsure  = internal.VerbEnsure
	VerbRemove  = internal.VerbRemove
)

type (
	// Kind is the handle of one kind of things outside. Make it with [New]; it is safe for concurrent use, and may be declared to several
	// controllers.
	//
	//	type Kind[S, O any] struct {
	//		// contains filtered or unexported fields
	//	}
	//
	//	// Answer returns what Ensure of the system has answered in this pass, in ObserveApply. Known is false when there was no call, because the
	//	// thing was up to date or could not be ensured yet.
	//	func (k *Kind[S, O]) Answer(outcome reconcile.ApplyOutcome, key string) (answer reconcile.FetchResult[O], known bool)
	//
	//	// Ensure plans that the thing is as spec says. Spec must not be changed afterwards. Of the options only [apply.WaitUntil] has a meaning here:
	//	// what waits is neither ensured nor removed.
	//	func (k *Kind[S, O]) Ensure(plan *reconcile.PlanResult, key string, spec S, opts ...apply.ChildOption)
	//
	//	// GroupVersionKind returns how the kind is named in results and recordings, and for KeepKind of a plan. No API server has it.
	//	func (k Kind) GroupVersionKind() schema.GroupVersionKind
	//
	//	// Name returns the name of the kind.
	//	func (k Kind) Name() string
	//
	//	// Observe asks the system what there is under the key, in FetchRemoteState. That nothing is there is an error for which IsNotFound of
	//	// the result is true. The owner is reconciled again when the system reports a change of it.
	//	func (k *Kind[S, O]) Observe(ctx context.Context, r reconcile.Reader, key string) reconcile.FetchResult[O]
	//
	//	// Once plans that Ensure of the system is called once for the key and the owner, for an effect that leaves nothing to observe, such
	//	// as a report. It is called at least once, and at most once after its marker is stored on the owner; it is called again when it fails, and
	//	// when a plan has left it out in between. Observe, UpToDate and Remove are not called.
	//	func (k *Kind[S, O]) Once(plan *reconcile.PlanResult, key string, spec S, opts ...apply.ChildOption)
	//
	//	// Watched reports whether the system of the kind is a [Watcher].
	//	func (k Kind) Watched() bool
	Kind[S, O any] = internal.Kind[S, O]
	// Declared is a [Kind] of any types, as a controller is told of it.
	//
	//	type Declared interface {
	//		// Name returns the name of the kind.
	//		Name() string
	//		// Watched reports whether its system is a [Watcher].
	//		Watched() bool
	//		// contains filtered or unexported methods
	//	}
	Declared = internal.Declared
	// System reaches the things of one kind outside of the cluster. A key names one thing, for ever. The methods are called by several
	// workers at a time, each with a context that ends after the Timeout of the [Options]. S is what a plan says of a thing, O what there is.
	//
	//	type System[S, O any] interface {
	//		// Observe returns what there is under the key, or [ErrNotFound]. It changes nothing.
	//		Observe(ctx context.Context, key string) (O, error)
	//		// Ensure makes the thing as spec says, whatever there is, and returns what there is then. It may be called again for the same,
	//		// also when an earlier call has done its work and its answer was lost.
	//		Ensure(ctx context.Context, key string, spec S) (O, error)
	//		// Remove removes the thing. That it does not exist is no error.
	//		Remove(ctx context.Context, key string) error
	//		// UpToDate reports whether what was observed is as spec says, so that Ensure is not called. It is a pure function.
	//		UpToDate(spec S, observed O) bool
	//	}
	System[S, O any] = internal.System[S, O]
	// Watcher is implemented by a [System] that learns of changes.
	//
	//	type Watcher interface {
	//		// Watch calls opened when a stream is open, and from then on changed with the key of each thing that appears, changes or goes, from any
	//		// goroutine, until the context ends. It returns when the stream is broken, and is called again after [Options.Rewatch]. With opened all
	//		// owners that have observed something of the kind are reconciled: what has changed since they did, no stream tells.
	//		Watch(ctx context.Context, opened func(), changed func(key string)) error
	//	}
	Watcher = internal.Watcher
	// Options are the settings of a [Kind]. The zero value works.
	//
	//	type Options struct {
	//		// Timeout ends each call. Default 10 s.
	//		Timeout time.Duration
	//		// Rate is how many calls a second one system is sent on average, Burst how many at once at least 1. What exceeds it waits in the
	//		// queue of the controller, not in a worker. Zero is no limit.
	//		Rate  float64
	//		Burst int
	//		// Failures is after how many failures in a row, of the category Infrastructure, the circuit of a system opens: its calls fail without
	//		// being sent. What is wrong with one thing counts for nobody else. Default 5; negative never opens.
	//		Failures int
	//		// Open is how long a circuit stays open the first time; each further failure doubles it, up to a minute. Then one call is let
	//		// through. Default 1 s.
	//		Open time.Duration
	//		// System names the system that has the thing of a key, where a kind is spread over several, such as one server a namespace. Rate
	//		// and circuit are counted for each. Nil is one for all.
	//		System func(key string) string
	//		// Classify returns the category and the reason of an error of the system. An empty category leaves the error to
	//		// [health.Categorize], which takes an error that knows its category at its word; one of the network is Infrastructure, others are
	//		// Unknown. Errors of deadlines and of open circuits are Infrastructure and are not asked for. Nil leaves all.
	//		Classify func(err error) (category health.Category, reason string)
	//		// Permit returns why the owner may not have the thing of the key, nil when it may. It is asked before a thing is ensured, and
	//		// before one is removed that the annotation of an owner names. Nil permits every key.
	//		Permit func(owner types.NamespacedName, key string) error
	//		// Exclusive states that Permit permits a key to one owner only, such as where the key follows from the namespace and the name of the
	//		// owner. Permit is then proof enough for a key that the annotation of an owner names and that has no claim. Default false.
	//		Exclusive bool
	//		// Rewatch is the pause before a broken stream is opened again. Default 3 s.
	//		Rewatch time.Duration
	//	}
	Options = internal.Options
	// Call is one call of a [System].
	//
	//	type Call struct {
	//		// Kind is the name of the kind.
	//		Kind string
	//		// System is what [Options.System] returns for the key.
	//		System string
	//		// Verb is one of VerbObserve, VerbEnsure and VerbRemove.
	//		Verb string
	//		// Key names the thing.
	//		Key string
	//	}
	Call = internal.Call
	// Error is what went wrong with one thing outside. It knows its category, and wraps the error of the system.
	//
	//	type Error struct {
	//		Call
	//		// Category and Reason say what follows from it.
	//		Category health.Category
	//		Reason   string
	//		// Err is the cause.
	//		Err error
	//	}
	//
	//	// Error names the call and the cause.
	//	func (e *Error) Error() string
	//
	//	// ExternalSystem reports which system failed: a pass with such an error is left to the backoff, whatever poll its plan asks for.
	//	func (e *Error) ExternalSystem() string
	//
	//	// HealthCategory implements [health.Classified].
	//	func (e *Error) HealthCategory() string
	//
	//	// HealthReason implements [health.Classified].
	//	func (e *Error) HealthReason() string
	//
	//	// Unwrap returns the cause.
	//	func (e *Error) Unwrap() error
	Error = internal.Error
)

// New returns the kind of that name, such as Database. Owners remember the name: it must not change between versions. A name that is
// not valid is an error when the controller is set up.
func New[S, O any](name string, system System[S, O], options Options) *Kind[S, O] {
	return internal.New(name, system, options)
}
