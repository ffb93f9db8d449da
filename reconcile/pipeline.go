package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
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
	Apply(ctx context.Context, owner client.Object, plan PlanResult) apply.Result
	// Forget releases what is remembered of an owner that is gone.
	Forget(owner types.UID)
}

// StatusWriter stores what a pass has found out about its owner; a Writer of package reconcile/status is one.
type StatusWriter interface {
	// WriteStatus stores the status of after, when it differs from that of before, in one request that leaves the
	// conditions of other writers alone; managed lists the condition types that are ours.
	WriteStatus(ctx context.Context, before, after client.Object, managed []string) (written bool, err error)
	// Rewrite stores what after, a form of the owner, has different from before, status left out. See [Migrator].
	Rewrite(ctx context.Context, before, after client.Object) (written bool, err error)
}

// EventRecorder announces what was stored. The recorders of client-go/tools/record satisfy it.
type EventRecorder interface {
	Event(object runtime.Object, eventType, reason, message string)
}

// Config is what a [Pipeline] is made of. Name, Reconciler, New, Reader, Applier and StatusWriter are required.
type Config[T Owner, F, O any] struct {
	// Name is the controller's name, for logs.
	Name string
	// Reconciler is the domain logic.
	Reconciler Reconciler[T, F, O]
	// New returns an empty owner to read into.
	New func() T
	// Reader is the manager's cached client; it reads the owner, and all else when there is no Tracker.
	Reader client.Reader
	// Applier writes what the plan says.
	Applier Applier
	// StatusWriter writes the owner's status.
	StatusWriter StatusWriter
	// Tracker gives out the reader of each pass; nil reads with Reader and tracks nothing.
	Tracker Tracker
	// Decorate sets status fields before the reconciler does as a [StatusDecorator]; nil sets none. It is for what sets up
	// pipelines, such as for the members of a group.
	Decorate func(owner T, cm *conditions.Manager, observation O)
	// Finalizer is the name of the finalizer that the Applier keeps on owners that need one; empty means that no owner
	// has one, and deletion is left to garbage collection.
	Finalizer string
	// FieldManager is the name under which the Applier writes: conditions that it wrote in an earlier pass and that no
	// component has any more are removed. Empty removes none.
	FieldManager string
	// FormerManagers are names under which earlier versions of the operator wrote the status: their conditions are as those of
	// FieldManager.
	FormerManagers []string
	// Announced are the conditions that an owner whose type keeps no conditions is taken to have had, as long as the pipeline
	// has not seen it: a replay gives those of [Report.Announced]. Empty is none.
	Announced []metav1.Condition
	// Recorder announces condition transitions; nil announces none.
	Recorder EventRecorder
	// Observer is told of phases and passes; nil tells nobody.
	Observer Observer
	// Clock tells the time; nil is the real clock.
	Clock clock.PassiveClock
	// Grace is how long infrastructure trouble leaves a component's condition as it was; zero is health's default, 10 s.
	Grace time.Duration
	// LagDeadline is how long a pass waits for a cache that does not show the engine's last write to the owner; zero is 10 s,
	// negative waits for nothing. It is that of the apply engine.
	LagDeadline time.Duration
	// Budget limits what a pass may take; its zero fields mean their defaults.
	Budget Budget
	// TerminalRetry overrides DefaultTerminalRetry; zero leaves it.
	TerminalRetry time.Duration
	// PauseAnnotation overrides DefaultPauseAnnotation; empty leaves it.
	PauseAnnotation string
	// PauseUnwritten leaves the status of a paused owner as it is; the default writes [ConditionPaused].
	PauseUnwritten bool
}

// Pipeline runs the passes of one controller. It is a controller-runtime reconcile.Reconciler, safe for several workers.
type Pipeline[T Owner, F, O any] struct {
	Config[T, F, O]

	phases   *phases[T, F, O]
	owners   *ledger
	failures workqueue.TypedRateLimiter[ctrl.Request]
	read     []client.GetOption // of the owner
	managers []string           // whose conditions are ours
}

var _ ctrl.Reconciler = (*Pipeline[Owner, any, any])(nil)

// New checks the configuration and returns its pipeline. The error names the field that is missing, or the phase that does
// not fit, see [CheckPhases].
func New[T Owner, F, O any](config Config[T, F, O]) (*Pipeline[T, F, O], error) {
	for _, required := range []struct {
		field   string
		missing bool
	}{
		{"Name", config.Name == ""},
		{"Reconciler", config.Reconciler == nil},
		{"New", config.New == nil},
		{"Reader", config.Reader == nil},
		{"Applier", config.Applier == nil},
		{"StatusWriter", config.StatusWriter == nil},
	} {
		if required.missing {
			return nil, fmt.Errorf("pipeline %q: %s is required", config.Name, required.field)
		}
	}
	phases, err := phasesOf(config.Reconciler)
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
	config.Budget = config.Budget.orDefaults()
	return &Pipeline[T, F, O]{
		Config:   config,
		phases:   phases,
		owners:   &ledger{},
		failures: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](minBackoff, maxBackoff),
		read:     ownerRead(config.New()),
		managers: append(slices.Clone(config.FormerManagers), config.FieldManager),
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

// With returns a pipeline that shares all that p remembers and has another configuration: one that reaches the world in
// another way for a pass, such as to record it. Its Config is not checked again, and its Reconciler stays.
func (p *Pipeline[T, F, O]) With(change func(*Config[T, F, O])) *Pipeline[T, F, O] {
	out := *p
	change(&out.Config)
	return &out
}

// Reconcile runs one pass for the owner that the request names. A mistake of the program comes back as a terminal error of
// controller-runtime, which counts and logs it and does not try again; the result has the time after which a pass may find
// another world all the same, which the controllers of reconcile/controller see to.
func (p *Pipeline[T, F, O]) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ctx, end := p.Budget.limit(ctx)
	defer end()
	owner := p.New()
	if err := p.Reader.Get(ctx, request.NamespacedName, owner, p.read...); err != nil {
		if apierrors.IsNotFound(err) {
			p.forget(request)
			p.Observer.PassDone(ctx, Report{Request: request, Gone: true})
			return ctrl.Result{}, nil
		}
		err = fmt.Errorf("get the owner %s: %w", request, err)
		p.Observer.PassDone(ctx, Report{Request: request, Outcome: Outcome{Retry: []error{err}}})
		return ctrl.Result{}, err
	}
	now := p.Clock.Now()
	if previous, replaced := p.owners.seen(owner); replaced {
		p.Applier.Forget(previous)
	}
	pass := newPass(p, request, owner, now)
	report := Report{Request: request}
	if p.pause(ctx, owner) {
		pass.rest(ctx, &report)
		return p.conclude(ctx, &report)
	}
	if p.owners.stale(owner, now, p.LagDeadline) {
		return ctrl.Result{RequeueAfter: freshness.Poll}, nil
	}
	switch {
	case !owner.GetDeletionTimestamp().IsZero():
		pass.finalize(ctx, &report)
	case !pass.migrate(ctx, &report):
		pass.reconcile(ctx, &report)
	}
	report.Plan, report.Components = pass.plan, pass.components
	return p.conclude(ctx, &report)
}

// Report is what one pass did, for metrics, traces and explanations.
type Report struct {
	// Request names the owner.
	Request ctrl.Request
	// Gone reports whether the owner does not exist any more: all else here is empty.
	Gone bool
	// Paused reports whether the owner is paused: nothing was read or written for it but [ConditionPaused], and there is neither a plan
	// nor an assessment.
	Paused bool
	// Plan is what PlanResources, or Finalize, returned.
	Plan PlanResult
	// Components are what GetComponentHealth returned.
	Components []health.Component
	// Applied is what became of each object of the plan; it is empty when the apply was blocked.
	Applied apply.Result
	// Blocked is why nothing was applied, nil when something was.
	Blocked error
	// Assessment is the state of the owner.
	Assessment health.Assessment
	// Announced are the conditions of earlier passes that the owner's type does not keep, so that the pipeline has to.
	Announced []metav1.Condition
	// Transitions are the conditions that changed, and were stored where the owner's type keeps them.
	Transitions []conditions.Transition
	// StatusWritten reports whether the status was written.
	StatusWritten bool
	// Outcome is what comes next.
	Outcome Outcome
	// Handled is the error that the engine has logged itself, because a requeue stands in for the backoff.
	Handled error
	// Next is after which time another pass comes by itself: a requeue, or the backoff of an error. Zero is when an event triggers one.
	Next time.Duration
}

// conclude turns the outcome of the pass into what controller-runtime is told.
func (p *Pipeline[T, F, O]) conclude(ctx context.Context, report *Report) (ctrl.Result, error) {
	var backoff time.Duration
	if len(report.Outcome.Retry) > 0 {
		backoff = p.failures.When(report.Request)
	} else {
		p.failures.Forget(report.Request)
	}
	result, err, handled := report.Outcome.Result(backoff)
	report.Handled = handled
	if report.Next = result.RequeueAfter; err != nil {
		report.Next = backoff
	}
	if mistakes := report.Outcome.mistakes(); err == nil && handled == nil && mistakes != nil {
		err = ctrl.TerminalError(mistakes)
	}
	p.logErrors(ctx, report, err, backoff, result.RequeueAfter)
	p.Observer.PassDone(ctx, *report)
	return result, err
}

func (p *Pipeline[T, F, O]) forget(request ctrl.Request) {
	if uid, known := p.owners.forget(request.NamespacedName); known {
		p.Applier.Forget(uid)
	}
	p.Tracker.Forget(request.NamespacedName)
	p.failures.Forget(request)
}
