package pipeline

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// pass is one run of the pipeline for one owner.
type pass[T reconcile.Owner, F, O any] struct {
	*Pipeline[T, F, O]

	owner T // from the cache; the Applier updates its metadata
	rc    reconcile.ReconcileContext[T]
	reads *notingReader

	observation O
	components  []health.Component
	plan        reconcile.PlanResult
	composed    bool  // the observation is that of this pass
	broken      error // a phase panicked: its results are unknown
	unplanned   error // why there is no plan
	over        error // the pass or its plan exceeds the budget
}

func newPass[T reconcile.Owner, F, O any](
	p *Pipeline[T, F, O], request ctrl.Request, owner T, now time.Time,
) *pass[T, F, O] {
	return &pass[T, F, O]{Pipeline: p, owner: owner, rc: reconcile.ReconcileContext[T]{Request: request, Now: now}}
}

// begin gives the phases a copy of the owner, whose changes have no effect. The copy has none of the engine's labels and
// annotations, so that a phase that copies metadata to children or Pod templates copies only those of the author and the users.
func (p *pass[T, F, O]) begin(ctx context.Context) {
	p.rc.Object = p.copied()
	if labels, found := withoutEngineKeys(p.Domain, p.rc.Object.GetLabels()); found {
		p.rc.Object.SetLabels(labels)
	}
	if annotations, found := withoutEngineKeys(p.Domain, p.rc.Object.GetAnnotations()); found {
		p.rc.Object.SetAnnotations(annotations)
	}
	p.rc.Log = log.FromContext(ctx)
}

// withoutEngineKeys deletes the engine's keys from the metadata of a copy, and reports whether it found any. It returns nil for metadata
// without other keys, as without an engine.
func withoutEngineKeys(domain string, metadata map[string]string) (rest map[string]string, found bool) {
	for key := range metadata {
		if apply.IsEngineKey(domain, key) {
			delete(metadata, key)
			found = true
		}
	}
	if len(metadata) == 0 {
		metadata = nil
	}
	return metadata, found
}

// copied returns a copy of the owner. The copy shares the field sets of managedFields, which are often most of the owner and never
// change in place.
func (p *pass[T, F, O]) copied() T {
	fields := p.owner.GetManagedFields()
	p.owner.SetManagedFields(nil)
	out := p.owner.DeepCopyObject().(T) //nolint:forcetypeassert // a deep copy has the type of its original
	p.owner.SetManagedFields(fields)
	out.SetManagedFields(slices.Clone(fields))
	return out
}

// fetch runs FetchRemoteState with the tracked reader and records failed reads.
func (p *pass[T, F, O]) fetch(ctx context.Context) (fetched F) {
	reader, end := p.Tracker.Begin(p.rc.Request.NamespacedName)
	defer end()
	p.reads = &notingReader{Reader: reader}
	p.step(ctx, reconcile.PhaseFetch, func(ctx context.Context) { fetched = p.reconciler.FetchRemoteState(ctx, p.reads, p.rc) })
	return fetched
}

// planned records the plan of a phase. If the phase returned an error, only the requeue of the plan is kept.
func (p *pass[T, F, O]) planned(plan reconcile.PlanResult, err error) {
	if err != nil {
		plan = reconcile.PlanResult{RequeueAfter: plan.RequeueAfter, RequeueAt: plan.RequeueAt}
	}
	p.plan, p.unplanned = plan, err
}

// step runs a phase unless an earlier phase has panicked.
func (p *pass[T, F, O]) step(ctx context.Context, phase reconcile.Phase, do func(context.Context)) {
	if p.broken == nil {
		p.broken = p.run(ctx, phase, do)
	}
}

// run runs one phase with the context of the observer, converts a panic to a [reconcile.PanicError] and reports the duration to the
// observer.
func (p *pass[T, F, O]) run(ctx context.Context, phase reconcile.Phase, step func(context.Context)) (err error) {
	start := p.Clock.Now()
	ctx = p.Observer.PhaseStart(ctx, phase)
	defer func() {
		if value := recover(); value != nil {
			err = &reconcile.PanicError{Phase: phase, Value: value, Stack: debug.Stack()}
		}
		p.Observer.PhaseDone(ctx, phase, p.Clock.Since(start), err)
	}()
	step(ctx)
	return nil
}

// notYetRetry is the delay of the next pass in case the reader does not enqueue the owner.
const notYetRetry = time.Second

// waits ends a pass whose reads are not all available yet.
func (p *pass[T, F, O]) waits(report *reconcile.Report) bool {
	if p.reads.waiting == nil {
		return false
	}
	p.rc.Log.V(1).Info("reconciliation deferred", "waitingFor", p.reads.waiting.What)
	report.Outcome.Requeue(notYetRetry)
	return true
}

// noObserver ignores all events.
type noObserver struct{}

func (noObserver) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }
func (noObserver) PhaseDone(context.Context, reconcile.Phase, time.Duration, error)  {}
func (noObserver) PassDone(context.Context, reconcile.Report)                        {}
