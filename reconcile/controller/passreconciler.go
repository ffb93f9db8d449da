package controller

import (
	"context"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// The reasons to defer a reconciliation.
const (
	waitsForCache = "deferred: the cache does not show the last write yet"
	waitsForRest  = "deferred: the plan comes out different in every pass"
	waitsForPace  = "deferred: events of other objects trigger reconciliations only at the interval of EventInterval"
)

// passReconciler runs a reconciliation when the cache contains the last writes, and reports the trigger.
type passReconciler struct {
	Next     ctrl.Reconciler
	Pending  *tracked.PendingWrites
	Unstable *trigger.Unstable
	Pace     *trigger.Pace
	Triggers *trigger.Triggers
	Clock    clock.PassiveClock

	Observer *observe.Observer
	Spans    *observe.Tracing // nil without tracing
	Later    *later
}

// Reconcile implements the Reconciler of controller-runtime.
func (p *passReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	behind, expired := p.Pending.Behind(request.NamespacedName, p.Clock.Now())
	if behind || expired {
		p.Observer.Waited(expired)
	}
	if behind {
		p.Observer.LastPasses.Wait(request.NamespacedName, waitsForCache, freshness.Poll)
		return ctrl.Result{RequeueAfter: freshness.Poll}, nil
	}
	logger := log.FromContext(ctx)
	if expired {
		logger.Info("the cache still does not show what the last pass wrote; going on without", "deadline", p.Pending.Deadline)
	}
	first, known := p.Triggers.Take(request.NamespacedName)
	if rest := p.Pace.Start(request.NamespacedName, first, known, p.Clock.Now()); rest > 0 {
		p.Triggers.Return(request.NamespacedName, first)
		p.Observer.LastPasses.Wait(request.NamespacedName, waitsForPace, rest)
		return ctrl.Result{RequeueAfter: rest}, nil
	}
	if rest := p.Unstable.Start(request.NamespacedName, first, known, p.Clock.Now()); rest > 0 {
		p.Observer.LastPasses.Wait(request.NamespacedName, waitsForRest, rest)
		return ordinary(first, ctrl.Result{RequeueAfter: rest}), nil
	}
	p.Observer.Started(request.NamespacedName, first, known)
	defer p.Observer.LastPasses.Ended(request.NamespacedName)
	if known {
		first.Log(logger)
	}
	if p.Spans != nil {
		spanned, span := p.Spans.Start(ctx, request, first, known)
		defer span.End()
		ctx = spanned
	}
	result, err := p.Later.Keep(request)(p.Next.Reconcile(ctx, request))
	return ordinary(first, result), err
}

// ordinary resets the priority of an edit after its reconciliation. Later retries and requeues have the default priority,
// so an owner that never succeeds does not delay the others.
func ordinary(woken trigger.Trigger, result ctrl.Result) ctrl.Result {
	if woken.Edit && result.Priority == nil {
		result.Priority = new(0)
	}
	return result
}
