package reconcile

import (
	"context"
	"slices"
)

// finalize is the pass of an owner that is being deleted: fetch, plan the deletion, carry it out. While something keeps
// the owner, its status says what; once the finalizer is gone nothing more is done for it.
func (p *pass[T, F, O]) finalize(ctx context.Context, report *Report) {
	if p.Finalizer == "" || !slices.Contains(p.owner.GetFinalizers(), p.Finalizer) {
		return
	}
	p.begin(ctx)
	fetched := p.fetch(ctx)
	if p.waits(report) {
		return
	}
	if p.phases.finalizer != nil {
		p.step(ctx, PhaseFinalize, func(ctx context.Context) { p.planned(p.phases.finalizer.Finalize(ctx, p.rc, fetched)) })
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
