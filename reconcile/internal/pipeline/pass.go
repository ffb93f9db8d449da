package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// reconcile runs one pass: fetch, compose, plan, health, apply unless it is blocked, status, and then the events of stored changes.
func (p *pass[T, F, O]) reconcile(ctx context.Context, report *reconcile.Report) {
	p.begin(ctx)
	fetched := p.fetch(ctx)
	if p.waits(report) {
		return
	}
	p.compose(ctx, fetched)
	p.step(ctx, reconcile.PhasePlan, func(ctx context.Context) {
		p.planned(p.reconciler.PlanResources(ctx, p.rc, p.observation))
	})
	if p.phases.health != nil {
		p.step(ctx, reconcile.PhaseHealth, func(ctx context.Context) { p.components = p.phases.health(ctx, &p.observation) })
	}

	report.Blocked = p.blocked(ctx)
	if report.Blocked == nil {
		p.apply(ctx, report, p.held())
	}
	if p.Children != nil && report.Blocked == nil {
		p.step(ctx, reconcile.PhaseHealth, func(ctx context.Context) {
			p.components = slices.Concat(p.components, p.Children(ctx, p.owner, &report.Applied))
		})
	}
	p.requeue(report)
	p.observeApply(ctx, report)
	p.status(ctx, report, p.errs(report))
}

// compose computes the observation from the fetched state. Without a composer the observation is the fetched state.
func (p *pass[T, F, O]) compose(ctx context.Context, fetched F) {
	switch {
	case p.broken != nil:
	case p.phases.composer == nil:
		p.observation, p.composed = p.phases.asFetched(fetched), true
	default:
		p.step(ctx, reconcile.PhaseCompose, func(ctx context.Context) {
			p.observation, p.composed = p.phases.composer.ComposeState(ctx, p.rc, fetched), true
		})
	}
}

// observeApply passes the result of the plan to the observation.
func (p *pass[T, F, O]) observeApply(ctx context.Context, report *reconcile.Report) {
	observer := p.phases.applyObserver
	if observer == nil {
		return
	}
	outcome := reconcile.ApplyOutcome{Result: report.Applied, Blocked: report.Blocked}
	p.step(ctx, reconcile.PhaseObserveApply, func(ctx context.Context) {
		p.observation = observer.ObserveApply(ctx, p.rc, p.observation, outcome)
	})
}

// blocked returns the reasons that prevent the apply: a phase that panicked, an error of planning, a plan or a pass that exceeds the
// budget, a failed read (whether or not the phase reports it), or a component that blocks.
func (p *pass[T, F, O]) blocked(ctx context.Context) error {
	if p.over = late(ctx); p.over == nil {
		p.over = budget(p.Budget).check(&p.plan)
	}
	reasons := make([]error, 0, 4)
	for _, reason := range []error{p.broken, p.unplanned, p.over} {
		if reason != nil {
			reasons = append(reasons, reason)
		}
	}
	reasons = append(reasons, p.reads.failed...)
	for _, blocking := range health.Blocking(p.components) {
		reasons = append(reasons, blocking)
	}
	return errors.Join(reasons...)
}

// held returns the plan. If the reconciler has a finalizer phase, the plan keeps the finalizer.
func (p *pass[T, F, O]) held() reconcile.PlanResult {
	plan := p.plan
	if p.phases.finalizer != nil {
		plan.Hold = true
	}
	return plan
}

// apply applies the plan and records a write of the owner's metadata.
func (p *pass[T, F, O]) apply(ctx context.Context, report *reconcile.Report, plan reconcile.PlanResult) {
	before := p.owner.GetResourceVersion()
	p.step(ctx, reconcile.PhaseApply, func(ctx context.Context) { report.Applied = p.Applier.Apply(ctx, p.owner, plan) })
	if p.owner.GetResourceVersion() != before {
		p.owners.Wrote(p.owner, p.rc.Now)
	}
	p.tellWrites(&report.Applied)
	report.Outcome.Requeue(report.Applied.RequeueAfter)
	p.over = late(ctx)
}

// requeue schedules the pass that the plan requests, also if the apply is blocked. It ignores a poll (RequeueAfter) if an external
// system has failed, because the poll would replace the backoff for that system.
func (p *pass[T, F, O]) requeue(report *reconcile.Report) {
	if unobserved(&report.Applied) {
		report.Outcome.Requeue(observedWithin)
	}
	if p.plan.RequeueAfter != 0 && failedOutside(append(slices.Clone(p.reads.failed), report.Applied.Err())) {
		at := reconcile.PlanResult{RequeueAt: p.plan.RequeueAt}
		if after, asked := at.RequeueIn(p.rc.Now); asked {
			report.Outcome.Requeue(after)
		}
		return
	}
	if after, asked := p.plan.RequeueIn(p.rc.Now); asked {
		report.Outcome.Requeue(after)
	}
}

// failedOutside reports whether one of the errors comes from an external system.
func failedOutside(errs []error) bool {
	var outside interface{ ExternalSystem() string }
	return errors.As(errors.Join(errs...), &outside)
}

// errs returns the errors of the pass that no component reports: unreported reads, an error of planning, a panic, an exceeded
// budget, refused writes.
func (p *pass[T, F, O]) errs(report *reconcile.Report) []error {
	var errs []error
	for _, failed := range p.reads.failed {
		if !reported(p.components, failed) {
			errs = append(errs, failed)
		}
	}
	if p.unplanned != nil && !reported(p.components, p.unplanned) {
		errs = append(errs, p.unplanned)
	}
	for _, err := range []error{p.broken, p.over} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, err := range splitErrors(report.Applied.Err()) {
		errs = append(errs, categorize(err))
	}
	return errs
}

func reported(components []health.Component, failed error) bool {
	return slices.ContainsFunc(components, func(c health.Component) bool {
		return slices.ContainsFunc(c.Errors, func(err error) bool { return errors.Is(err, failed) })
	})
}

// finalize runs the pass of an owner that is being deleted: fetch, plan the deletion, apply it. While the owner is
// kept, its status shows the reason. After the finalizer is removed, the pass does nothing more, unless the controller reconciles owners
// that other controllers keep.
func (p *pass[T, F, O]) finalize(ctx context.Context, report *reconcile.Report) {
	if p.Finalizer == "" || !slices.Contains(p.owner.GetFinalizers(), p.Finalizer) {
		if p.ReconcileDeleted {
			p.reconcile(ctx, report)
		}
		return
	}
	p.begin(ctx)
	fetched := p.fetch(ctx)
	if p.waits(report) {
		return
	}
	if p.phases.finalizer != nil {
		p.step(ctx, reconcile.PhaseFinalize, func(ctx context.Context) { p.planned(p.phases.finalizer.Finalize(ctx, p.rc, fetched)) })
	}
	report.Blocked = p.blocked(ctx)
	if report.Blocked == nil {
		p.apply(ctx, report, p.plan)
	}
	p.requeue(report)
	if report.Applied.Finalized {
		return
	}
	p.status(ctx, report, p.errs(report))
}

// migrate rewrites an owner that has an older form, and reports whether the pass ends after that.
func (p *pass[T, F, O]) migrate(ctx context.Context, report *reconcile.Report) (ends bool) {
	if p.phases.migrator == nil {
		return false
	}
	after := p.copied()
	var written bool
	var err error
	broken := p.run(ctx, reconcile.PhaseMigrate, func(ctx context.Context) {
		p.phases.migrator.Migrate(after)
		written, err = p.StatusWriter.Rewrite(ctx, p.owner, after)
	})
	switch {
	case broken != nil:
		report.Outcome.Fail(broken)
	case err != nil:
		report.Outcome.Fail(fmt.Errorf("migrate the owner: %w", err))
	case written:
		p.owners.Wrote(after, p.rc.Now)
	default:
		return false
	}
	return true
}
