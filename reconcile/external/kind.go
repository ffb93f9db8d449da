package external

import internal "github.com/reconcilekit/reconcilekit/reconcile/internal/external"

// ErrNotFound is the error that the method Observe of a [System] returns, possibly wrapped, for a resource that does not exist.
var ErrNotFound = internal.ErrNotFound

// ErrSystemGone is the error that the methods of a [System] return, possibly wrapped, if the system of the key no longer exists, and its
// resources with it, for example because its namespace is being deleted. Remove then counts as done. Observe and Ensure fail with the
// reason ExternalSystemGone. Do not return it for a system that does not respond.
var ErrSystemGone = internal.ErrSystemGone

// The verbs of a [Call].
const (
	VerbObserve = internal.VerbObserve
	VerbEnsure  = internal.VerbEnsure
	VerbRemove  = internal.VerbRemove
)

type (
	// Kind is the handle of one kind of external resources. Create it with [New]. It is safe for concurrent use, and may be declared to
	// several controllers.
	//
	//	type Kind[S, O any] struct {
	//		// contains filtered or unexported fields
	//	}
	//
	//	// Answer returns the result of the system's Ensure in this reconciliation, in ObserveApply. known is false if there was no call,
	//	// because the resource was up to date or could not be ensured yet.
	//	func (k *Kind[S, O]) Answer(outcome reconcile.ApplyOutcome, key string) (answer reconcile.FetchResult[O], known bool)
	//
	//	// Ensure plans a resource that matches spec. The caller must not modify spec afterwards. Of the options, only [apply.WaitUntil] is
	//	// supported: a waiting resource is neither ensured nor removed.
	//	func (k *Kind[S, O]) Ensure(plan *reconcile.PlanResult, key string, spec S, opts ...apply.ChildOption)
	//
	//	// GroupVersionKind returns the kind in results and recordings, and for KeepKind of a plan. No API server serves it.
	//	func (k Kind) GroupVersionKind() schema.GroupVersionKind
	//
	//	// Name returns the name of the kind.
	//	func (k Kind) Name() string
	//
	//	// Observe observes the resource with the key, in FetchRemoteState. If it does not exist, IsNotFound of the result is true. When the
	//	// system reports a change of the resource, the owner is enqueued.
	//	func (k *Kind[S, O]) Observe(ctx context.Context, r reconcile.Reader, key string) reconcile.FetchResult[O]
	//
	//	// Once plans a single call of the system's Ensure for the key and the owner, for an effect that cannot be observed, such as a report.
	//	// The call happens at least once, and at most once after its marker is stored on the owner. It is repeated if it fails, or if a plan
	//	// omits it in between. Observe, UpToDate and Remove are not called.
	//	func (k *Kind[S, O]) Once(plan *reconcile.PlanResult, key string, spec S, opts ...apply.ChildOption)
	//
	//	// Watched reports whether the system of the kind is a [Watcher].
	//	func (k Kind) Watched() bool
	Kind[S, O any] = internal.Kind[S, O]
	// Declared is a [Kind] of any types, as declared to a controller.
	//
	//	type Declared interface {
	//		// Name returns the name of the kind.
	//		Name() string
	//		// Watched reports whether its system is a [Watcher].
	//		Watched() bool
	//		// contains filtered or unexported methods
	//	}
	Declared = internal.Declared
	// System accesses the external resources of one kind. A key identifies one resource permanently. Several workers call the methods
	// concurrently, each with a context that ends after the Timeout of the [Options]. S is the planned state of a resource, O the observed
	// state.
	//
	//	type System[S, O any] interface {
	//		// Observe returns the resource with the key, or [ErrNotFound]. It must not change anything.
	//		Observe(ctx context.Context, key string) (O, error)
	//		// Ensure creates the resource or updates it to match spec, and returns its state. It must be idempotent: it is called again if the
	//		// response of an earlier call was lost.
	//		Ensure(ctx context.Context, key string, spec S) (O, error)
	//		// Remove removes the resource. A missing resource is not an error.
	//		Remove(ctx context.Context, key string) error
	//		// UpToDate reports whether the observed state matches spec, so that Ensure is not called. It is a pure function.
	//		UpToDate(spec S, observed O) bool
	//	}
	System[S, O any] = internal.System[S, O]
	// Watcher is implemented by a [System] that reports changes.
	//
	//	type Watcher interface {
	//		// Watch calls opened when a stream is open, and then changed with the key of each resource that is created, changed or removed, from
	//		// any goroutine, until the context ends. It returns when the stream breaks, and is called again after [Options.Rewatch]. opened
	//		// enqueues all owners that have observed a resource of the kind, because the stream does not report earlier changes.
	//		Watch(ctx context.Context, opened func(), changed func(key string)) error
	//	}
	Watcher = internal.Watcher
	// Options configures a [Kind]. The zero value is useful.
	//
	//	type Options struct {
	//		// Timeout is the timeout of each call. Default 10 s.
	//		Timeout time.Duration
	//		// Rate is the average number of calls per second to one system, Burst the maximum number at once, at least 1. Calls beyond the limit
	//		// wait in the queue of the controller, not in a worker. Zero is no limit.
	//		Rate  float64
	//		Burst int
	//		// Failures is the number of consecutive failures of the category Infrastructure after which the circuit of a system opens: its calls
	//		// then fail without being sent. An error about one resource does not count. Default 5; a negative value never opens.
	//		Failures int
	//		// Open is the time for which a circuit first stays open. Each further failure doubles it, up to a minute. Then one call is sent as a
	//		// probe. Default 1 s.
	//		Open time.Duration
	//		// System returns the name of the system with the key, for a kind with several systems, such as one server per namespace. Rate and
	//		// circuit apply to each system. Nil is one system for all.
	//		System func(key string) string
	//		// Classify returns the category and the reason of an error of the system. If the category is empty, [health.Categorize] categorises
	//		// the error: it uses the category of a classified error, Infrastructure for network errors and Unknown for others. Timeouts and open
	//		// circuits are always Infrastructure. Optional.
	//		Classify func(err error) (category health.Category, reason string)
	//		// Permit returns an error if the owner may not have the resource with the key. It is called before a resource is ensured, and before
	//		// one in the owner's annotation is removed. Nil permits every key.
	//		Permit func(owner types.NamespacedName, key string) error
	//		// Exclusive states that Permit permits a key to only one owner, for example if the key is derived from the namespace and the name of
	//		// the owner. A key in the owner's annotation then needs no claim. Default false.
	//		Exclusive bool
	//		// Rewatch is the delay before a broken stream is opened again. Default 3 s.
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
	//		// Verb is VerbObserve, VerbEnsure or VerbRemove.
	//		Verb string
	//		// Key identifies the resource.
	//		Key string
	//	}
	Call = internal.Call
	// Error is an error about one external resource. It has a health category, and wraps the error of the system.
	//
	//	type Error struct {
	//		Call
	//		// Category and Reason of the error in conditions.
	//		Category health.Category
	//		Reason   string
	//		// Err is the cause.
	//		Err error
	//	}
	//
	//	// Error returns the call and the cause.
	//	func (e *Error) Error() string
	//
	//	// ExternalSystem returns the system that failed. After such an error the owner is requeued with backoff, regardless of the plan's
	//	// RequeueAfter.
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

// New returns the kind with the name, such as Database. Owners store the name, so it must not change between versions. An invalid name is
// an error when the controller is set up.
func New[S, O any](name string, system System[S, O], options Options) *Kind[S, O] {
	return internal.New(name, system, options)
}
