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
	// DefaultTerminalRetry is how soon a write that the API server refused for good is tried again when nothing wakes
	// the owner earlier: its cause (a missing right, an admission policy, a foreign owner) may not be watched.
	DefaultTerminalRetry = time.Minute
	// minBackoff and maxBackoff are those of controller-runtime's default rate limiter.
	minBackoff = 5 * time.Millisecond
	maxBackoff = 1000 * time.Second
)

// Applier carries out what a pass has decided; an engine of package reconcile/apply/engine is one.
type Applier interface {
	// Apply brings the cluster to the set: deletes, applies, prunes. It keeps the metadata of owner (its finalizers and
	// inventory, and resourceVersion with it) at what it has written.
	Apply(ctx context.Context, owner client.Object, plan reconcile.PlanResult) apply.Result
	// Confirm returns nil when the API server has the owner, as far as this process has written or read it there; it reads it if need be.
	Confirm(ctx context.Context, owner client.Object) error
	// Forget releases what is remembered of an owner that is gone.
	Forget(owner types.UID)
}

// StatusWriter stores what a pass has found out about its owner; a Writer of package reconcile/internal/status is one.
type StatusWriter interface {
	// WriteStatus stores the status of after, when it differs from that of before, in one request that leaves the
	// conditions of other writers alone; managed lists the condition types that are ours.
	WriteStatus(ctx context.Context, before, after client.Object, managed []string) (written bool, err error)
	// Rewrite stores what after, a form of the owner, has different from before, status left out. See [reconcile.Migrator].
	Rewrite(ctx context.Context, before, after client.Object) (written bool, err error)
}

// Config configures a [Pipeline], whatever the types of its reconciler. Name, Reader, Applier and StatusWriter are required.
type Config struct {
	// Name is the controller's name, for logs.
	Name string
	// Reader is the manager's cached client; it reads the owner, and all else when there is no Tracker.
	Reader client.Reader
	// Applier writes what the plan says.
	Applier Applier
	// StatusWriter writes the owner's status.
	StatusWriter StatusWriter
	// Tracker gives out the reader of each pass; nil reads with Reader and tracks nothing.
	Tracker Tracker
	// Decorate sets status fields before the reconciler does as a [reconcile.StatusDecorator]; nil sets none. It is for what sets up
	// pipelines, such as for the members of a group.
	Decorate func(owner client.Object, observation any)
	// Children reports the health of the children after they were applied, for a reconciler whose observation has no GetComponentHealth. The
	// conditions of a reconciliation that applies nothing stay as they are. Nil reports none.
	Children func(ctx context.Context, owner client.Object, result *apply.Result) []health.Component
	// Finalizer is the name of the finalizer that the Applier keeps on owners that need one; empty means that no owner
	// has one, and deletion is left to garbage collection.
	Finalizer string
	// FieldManager is the name under which the Applier writes: conditions that it wrote in an earlier pass and that no
	// component has any more are removed. Empty removes none.
	FieldManager string
	// Domain is that of the Applier's labels and annotations, which the phases do not see on the owner, see [apply.IsEngineKey].
	// Empty is the default domain.
	Domain string
	// FormerManagers are names under which earlier versions of the operator wrote the status: their conditions are as those of
	// FieldManager.
	FormerManagers []string
	// Recorder announces condition transitions; nil announces none.
	Recorder events.EventRecorder
	// Observer is told of phases and passes; nil tells nobody.
	Observer reconcile.Observer
	// Clock tells the time; nil is the real clock.
	Clock clock.PassiveClock
	// Grace is how long an infrastructure failure leaves a component's condition as it was; zero is health's default, 10 s.
	Grace time.Duration
	// LagDeadline is how long a pass waits for a cache that does not show the engine's last write to the owner; zero is 10 s,
	// negative waits for nothing. It is that of the apply engine.
	LagDeadline time.Duration
	// Budget limits what a pass may take; its zero fields mean their defaults.
	Budget reconcile.Budget
	// TerminalRetry overrides [DefaultTerminalRetry]; zero leaves it.
	TerminalRetry time.Duration
	// PauseAnnotation overrides [DefaultPauseAnnotation]; empty leaves it.
	PauseAnnotation string
	// Conditions reports whether the owners have a condition of the type. Others are neither stored nor announced; without [ConditionPaused] the
	// status of a paused owner stays as it is. Nil keeps all.
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
	managers   []string           // whose conditions are ours
}

var _ ctrl.Reconciler = (*Pipeline[reconcile.Owner, any, any])(nil)

// New checks the configuration and returns the pipeline that runs the reconciler. The error names the field that is missing, or the phase
// that does not fit, see [CheckPhases].
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

// ownerRead lets a typed owner share with the cache what lies below its fields. A pass replaces fields of its metadata
// and copies it for the phases; an unstructured owner it would change in the cache.
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
