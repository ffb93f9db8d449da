package pipeline

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

const (
	// DefaultTerminalRetry is the delay before a write that the API server refused permanently is retried, unless an event enqueues
	// the owner earlier: the cause (a missing permission, an admission policy, a foreign owner) may not be watched.
	DefaultTerminalRetry = time.Minute
	// minBackoff and maxBackoff are the limits of controller-runtime's default rate limiter.
	minBackoff = 5 * time.Millisecond
	maxBackoff = 1000 * time.Second
)

// Applier applies the plan of a pass. An engine of package reconcile/apply/engine is an Applier.
type Applier interface {
	// Apply applies the plan: it deletes, applies and prunes objects. It updates the metadata of owner (its finalizers,
	// inventory and resourceVersion) after its writes.
	Apply(ctx context.Context, owner client.Object, plan reconcile.PlanResult) apply.Result
	// Confirm returns nil if the API server has the owner. It sends a read unless this process has already written or read the owner there.
	Confirm(ctx context.Context, owner client.Object) error
	// Forget drops the state of a deleted owner.
	Forget(owner types.UID)
}

// StatusWriter stores the status of an owner. A Writer of package reconcile/internal/status is a StatusWriter.
type StatusWriter interface {
	// WriteStatus stores the status of after, if it differs from that of before, in one request that preserves the
	// conditions of other writers; managed lists the condition types of this controller.
	WriteStatus(ctx context.Context, before, after client.Object, managed []string) (written bool, err error)
	// Rewrite stores the differences between before and after, another form of the owner, except for the status. See [reconcile.Migrator].
	Rewrite(ctx context.Context, before, after client.Object) (written bool, err error)
}

// Config configures a [Pipeline] for any types of its reconciler. Name, Reader, Applier and StatusWriter are required.
type Config struct {
	// Name is the controller's name, for logs.
	Name string
	// Reader is the manager's cached client. It reads the owner, and all other objects if there is no Tracker.
	Reader client.Reader
	// Applier applies the plan.
	Applier Applier
	// StatusWriter writes the owner's status.
	StatusWriter StatusWriter
	// Tracker returns the reader of each pass. Nil reads with Reader and tracks nothing.
	Tracker Tracker
	// Decorate sets status fields before the reconciler does as a [reconcile.StatusDecorator]. Optional. It is for callers that build
	// pipelines, for example for the members of a group.
	Decorate func(owner client.Object, observation any)
	// Children reports the health of the children after they were applied, in addition to the components of GetComponentHealth. A
	// reconciliation that applies nothing does not change the conditions of children. Nil reports none.
	Children func(ctx context.Context, owner client.Object, result *apply.Result) []health.Component
	// Finalizer is the name of the finalizer that the Applier keeps on owners that need one; empty means that no owner
	// has one, and deletion is left to garbage collection.
	Finalizer string
	// ReconcileDeleted reconciles an owner that is being deleted and does not have the Finalizer as if it were not. Default false: nothing
	// is done for it.
	ReconcileDeleted bool
	// FieldManager is the field manager of the Applier. Conditions that it wrote in an earlier pass and that no
	// component has any more are removed. Empty removes none.
	FieldManager string
	// Domain is the domain of the Applier's labels and annotations. The pipeline hides them from the phases, see [apply.IsEngineKey].
	// Empty is the default domain.
	Domain string
	// FormerManagers are the field managers with which earlier versions of the operator wrote the status. Their conditions are treated as
	// those of FieldManager.
	FormerManagers []string
	// Retry makes the Applier repeat refused writes of the owner, without the delay that follows a refusal. Nil repeats none.
	Retry func(owner types.UID)
	// Acknowledge stores that a requested reconciliation of the owner has ended, and returns the metadata of the owner after the write. Nil
	// ignores requests.
	Acknowledge func(ctx context.Context, owner client.Object, token string) (client.Object, error)
	// Recorder announces condition transitions; nil announces none.
	Recorder events.EventRecorder
	// Observer receives the events of phases and passes. Optional.
	Observer reconcile.Observer
	// Clock returns the time; nil is the real clock.
	Clock clock.PassiveClock
	// Grace is how long an infrastructure failure does not change a component's condition; zero is health's default, 10 s.
	Grace time.Duration
	// LagDeadline is how long a pass waits for a cache that does not show the engine's last write to the owner. Zero means 10 s,
	// a negative value disables the wait. It equals that of the apply engine.
	LagDeadline time.Duration
	// Budget limits a pass. Its zero fields mean their defaults.
	Budget reconcile.Budget
	// TerminalRetry overrides [DefaultTerminalRetry]. Zero means the default.
	TerminalRetry time.Duration
	// ProgressDeadline is the time without progress after which an owner is stalled. Zero means [DefaultProgressDeadline], a negative value
	// disables it.
	ProgressDeadline time.Duration
	// PauseAnnotation overrides [DefaultPauseAnnotation]. Empty means the default.
	PauseAnnotation string
	// Conditions reports whether the owners have a condition of the type. Other conditions are neither stored nor announced. Without
	// [ConditionPaused] the status of a paused owner does not change. Nil keeps all.
	Conditions func(conditionType string) bool
}

// Pipeline runs the passes of one controller. It is a controller-runtime reconcile.Reconciler, safe for several workers.
type Pipeline[T reconcile.Owner, F, O any] struct {
	Config

	reconciler reconcile.Reconciler[T, F, O]
	phases     *phases[T, F, O]
	conditions conditionlist.Access
	owners     *owners
	failures   workqueue.TypedRateLimiter[ctrl.Request]
	read       []client.GetOption // of the owner
	managers   []string           // whose conditions belong to this controller
}

var _ ctrl.Reconciler = (*Pipeline[reconcile.Owner, any, any])(nil)

// New checks the configuration and returns the pipeline of the reconciler. The error names the missing field or the invalid
// phase, see [CheckPhases].
func New[T reconcile.Owner, F, O any](reconciler reconcile.Reconciler[T, F, O], config Config) (*Pipeline[T, F, O], error) {
	for _, required := range []struct {
		field   string
		missing bool
	}{
		{"Name", config.Name == ""},
		{"Reader", config.Reader == nil},
		{"Applier", config.Applier == nil},
		{"StatusWriter", config.StatusWriter == nil},
	} {
		if required.missing {
			return nil, fmt.Errorf("pipeline %q: %s is required", config.Name, required.field)
		}
	}
	phases, err := phasesOf(reconciler)
	if err != nil {
		return nil, fmt.Errorf("pipeline %q: %w", config.Name, err)
	}
	if config.Tracker == nil {
		config.Tracker = untracked{config.Reader}
	}
	if config.Observer == nil {
		config.Observer = noObserver{}
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	if config.TerminalRetry == 0 {
		config.TerminalRetry = DefaultTerminalRetry
	}
	if config.ProgressDeadline == 0 {
		config.ProgressDeadline = DefaultProgressDeadline
	}
	if config.LagDeadline == 0 {
		config.LagDeadline = freshness.Deadline
	}
	if config.PauseAnnotation == "" {
		config.PauseAnnotation = DefaultPauseAnnotation
	}
	config.Budget = reconcile.Budget(budget(config.Budget).orDefaults())
	return &Pipeline[T, F, O]{
		Config:     config,
		reconciler: reconciler,
		phases:     phases,
		conditions: conditionlist.Of[T](reconciler),
		owners:     &owners{},
		failures:   workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](minBackoff, maxBackoff),
		read:       ownerRead(NewOwner[T]()),
		managers:   append(slices.Clone(config.FormerManagers), config.FieldManager),
	}, nil
}

// ownerRead lets a typed owner share data below its fields with the cache. A pass replaces fields of the owner's metadata
// and copies the owner for the phases. An unstructured owner is copied, because a pass would change the cached object.
func ownerRead(owner client.Object) []client.GetOption {
	if _, shared := owner.(runtime.Unstructured); shared {
		return nil
	}
	return []client.GetOption{client.UnsafeDisableDeepCopy}
}

// NewOwner returns an empty owner to read into. T is a pointer to a struct.
func NewOwner[T reconcile.Owner]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) //nolint:forcetypeassert // a pointer to T's element is a T
}
