package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/freshness"
)

// claimRetry is the delay before a pass reads an owner again that its shard could not claim yet. Only a claim and the release
// of an owner that is no longer selected make a read return a conflict.
const claimRetry = time.Second

// Reconcile runs one pass for the owner of the request. It returns a mistake of the program as a terminal error of
// controller-runtime, which counts and logs it and does not retry. The result has the delay after which a pass may succeed
// nevertheless; the controllers of reconcile/controller schedule it.
func (p *Pipeline[T, F, O]) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ctx, end := budget(p.Budget).limit(ctx)
	defer end()
	owner := NewOwner[T]()
	if err := p.Reader.Get(ctx, request.NamespacedName, owner, p.read...); err != nil {
		if unclaimed := apierrors.IsConflict(err); unclaimed || apierrors.IsNotFound(err) {
			p.forget(request)
			p.Observer.PassDone(ctx, reconcile.Report{Request: request, Gone: true})
			if unclaimed {
				return ctrl.Result{RequeueAfter: claimRetry}, nil
			}
			return ctrl.Result{}, nil
		}
		err = fmt.Errorf("get the owner %s: %w", request, err)
		p.Observer.PassDone(ctx, reconcile.Report{Request: request, Outcome: reconcile.Outcome{Retry: []error{err}}})
		return ctrl.Result{}, err
	}
	now := p.Clock.Now()
	if previous, replaced := p.owners.Seen(owner); replaced {
		p.Applier.Forget(previous)
	}
	pass := newPass(p, request, owner, now)
	report := reconcile.Report{Request: request, Generation: owner.GetGeneration()}
	if p.pause(ctx, owner) {
		pass.rest(ctx, &report)
		return p.conclude(ctx, &report)
	}
	if p.owners.Stale(owner, now, p.LagDeadline) {
		return ctrl.Result{RequeueAfter: freshness.Poll}, nil
	}
	token := p.requested(owner)
	if token != "" {
		p.retry(request, owner)
	}
	switch {
	case !owner.GetDeletionTimestamp().IsZero():
		pass.finalize(ctx, &report)
	case !pass.migrate(ctx, &report):
		pass.reconcile(ctx, &report)
	}
	if token != "" && pass.ended(&report) {
		pass.acknowledge(ctx, &report, token)
	}
	report.Plan, report.Components = pass.plan, pass.components
	return p.conclude(ctx, &report)
}

// conclude converts the outcome of the pass to the result for controller-runtime.
func (p *Pipeline[T, F, O]) conclude(ctx context.Context, report *reconcile.Report) (ctrl.Result, error) {
	var backoff time.Duration
	if len(report.Outcome.Retry) > 0 {
		backoff = p.failures.When(report.Request)
	} else {
		p.failures.Forget(report.Request)
	}
	result, err, handled := report.Outcome.Result(backoff)
	until, unsent := notSent(report.Outcome.Err())
	if unsent && err != nil {
		result, err, handled = ctrl.Result{RequeueAfter: max(backoff, until.Sub(p.Clock.Now()))}, nil, err
	}
	report.Handled = handled
	if report.Next = result.RequeueAfter; err != nil {
		report.Next = backoff
	}
	if mistakes := mistakesOf(&report.Outcome); err == nil && handled == nil && mistakes != nil {
		err = ctrl.TerminalError(mistakes)
	}
	if !unsent || len(report.Outcome.Terminal) > 0 {
		p.logErrors(ctx, report, err, backoff, result.RequeueAfter)
	}
	p.Observer.PassDone(ctx, *report)
	return result, err
}

// notSent reports whether an error consists only of calls that were not sent because an external system is unavailable, and until when.
func notSent(err error) (until time.Time, all bool) {
	if unsent, ok := err.(interface{ NotSentUntil() time.Time }); ok {
		return unsent.NotSentUntil(), true
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range joined.Unwrap() {
			at, ok := notSent(part)
			if !ok {
				return time.Time{}, false
			}
			if all = true; until.IsZero() || at.Before(until) {
				until = at
			}
		}
		return until, all
	}
	if next := errors.Unwrap(err); next != nil {
		return notSent(next)
	}
	return time.Time{}, false
}

func (p *Pipeline[T, F, O]) forget(request ctrl.Request) {
	if uid, known := p.owners.Forget(request.NamespacedName); known {
		p.Applier.Forget(uid)
	}
	p.Tracker.Forget(request.NamespacedName)
	p.failures.Forget(request)
}

// mistakesOf joins the terminal errors that are mistakes of the program; nil if there are none.
func mistakesOf(o *reconcile.Outcome) error {
	var list []error
	for _, err := range o.Terminal {
		if health.Categorize(err).Category == health.ProgramError {
			list = append(list, err)
		}
	}
	return errors.Join(list...)
}
