package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/ownedconditions"
	"github.com/reconcilekit/reconcilekit/reconcile/status"
)

// PruneBlocked is the type of the condition that is True while children that are no longer planned are kept. Its message
// names them and the reason. It is absent otherwise.
const PruneBlocked = "PruneBlocked"

// pass is one run of the pipeline for one owner.
type pass[T Owner, F, O any] struct {
	*Pipeline[T, F, O]

	owner T // as the cache has it; the Applier keeps its metadata current
	rc    ReconcileContext[T]
	reads *notingReader

	observation O
	components  []health.Component
	plan        PlanResult
	composed    bool  // the observation is that of this pass
	broken      error // a phase panicked: what follows from it is unknown
	unplanned   error // why there is no plan
	over        error // the pass or its plan exceeds the budget
}

func newPass[T Owner, F, O any](
	p *Pipeline[T, F, O], request ctrl.Request, owner T, now time.Time,
) *pass[T, F, O] {
	return &pass[T, F, O]{Pipeline: p, owner: owner, rc: ReconcileContext[T]{Request: request, Now: now}}
}

// reconcile is the order of one pass: fetch, compose, plan, health, apply when nothing blocks it, status, and then the
// events of what was stored.
func (p *pass[T, F, O]) reconcile(ctx context.Context, report *Report) {
	p.begin(ctx)
	fetched := p.fetch(ctx)
	if p.waits(report) {
		return
	}
	p.compose(ctx, fetched)
	p.step(ctx, PhasePlan, func(ctx context.Context) {
		p.planned(p.Reconciler.PlanResources(ctx, p.rc, p.observation))
	})
	if p.phases.health != nil {
		p.step(ctx, PhaseHealth, func(ctx context.Context) { p.components = p.phases.health(ctx, &p.observation) })
	}

	report.Blocked = p.blocked(ctx)
	if report.Blocked == nil {
		p.apply(ctx, report, p.held())
	}
	p.requeue(report)
	p.observeApply(ctx, report)
	p.status(ctx, report, p.errs(report))
}

// compose makes the observation of what was fetched; without a phase for that it is what was fetched.
func (p *pass[T, F, O]) compose(ctx context.Context, fetched F) {
	switch {
	case p.broken != nil:
	case p.phases.composer == nil:
		p.observation, p.composed = p.phases.asFetched(fetched), true
	default:
		p.step(ctx, PhaseCompose, func(ctx context.Context) {
			p.observation, p.composed = p.phases.composer.ComposeState(ctx, p.rc, fetched), true
		})
	}
}

// planned takes what a phase has planned. Of a plan that came with an error only the next pass counts.
func (p *pass[T, F, O]) planned(plan PlanResult, err error) {
	if err != nil {
		plan = PlanResult{RequeueAfter: plan.RequeueAfter, RequeueAt: plan.RequeueAt}
	}
	p.plan, p.unplanned = plan, err
}

// observeApply lets the observation take in what became of the plan.
func (p *pass[T, F, O]) observeApply(ctx context.Context, report *Report) {
	observer := p.phases.applyObserver
	if observer == nil {
		return
	}
	outcome := ApplyOutcome{Result: report.Applied, Blocked: report.Blocked}
	p.step(ctx, PhaseObserveApply, func(ctx context.Context) {
		p.observation = observer.ObserveApply(ctx, p.rc, p.observation, outcome)
	})
}

// begin gives the phases their own copy of the owner: what they do to it changes nothing.
func (p *pass[T, F, O]) begin(ctx context.Context) {
	p.rc.Object = p.copied()
	p.rc.Log = log.FromContext(ctx)
}

// copied is a copy of the owner. The field sets of its managedFields, often most of it and never changed in place, are
// shared.
func (p *pass[T, F, O]) copied() T {
	fields := p.owner.GetManagedFields()
	p.owner.SetManagedFields(nil)
	out := p.owner.DeepCopyObject().(T) //nolint:forcetypeassert // a deep copy has the type of its original
	p.owner.SetManagedFields(fields)
	out.SetManagedFields(slices.Clone(fields))
	return out
}

// fetch runs FetchRemoteState with the tracked reader and notes what could not be read.
func (p *pass[T, F, O]) fetch(ctx context.Context) (fetched F) {
	reader, end := p.Tracker.Begin(p.rc.Request.NamespacedName)
	defer end()
	p.reads = &notingReader{Reader: reader}
	p.step(ctx, PhaseFetch, func(ctx context.Context) { fetched = p.Reconciler.FetchRemoteState(ctx, p.reads, p.rc) })
	return fetched
}

// step runs a phase unless an earlier one has panicked.
func (p *pass[T, F, O]) step(ctx context.Context, phase Phase, do func(context.Context)) {
	if p.broken == nil {
		p.broken = p.run(ctx, phase, do)
	}
}

// blocked returns why nothing may be applied: a phase that panicked, an error of planning, a plan or a pass that exceeds the
// budget, a read that failed (reported by the phase or not), or a component that blocks.
func (p *pass[T, F, O]) blocked(ctx context.Context) error {
	if p.over = late(ctx); p.over == nil {
		p.over = p.Budget.check(&p.plan)
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

// held is the plan with the finalizer on, for a reconciler that has a deletion to carry out.
func (p *pass[T, F, O]) held() PlanResult {
	plan := p.plan
	if p.phases.finalizer != nil {
		plan.Hold = true
	}
	return plan
}

// apply carries out the plan and notes a write of the owner's metadata.
func (p *pass[T, F, O]) apply(ctx context.Context, report *Report, plan PlanResult) {
	before := p.owner.GetResourceVersion()
	p.step(ctx, PhaseApply, func(ctx context.Context) { report.Applied = p.Applier.Apply(ctx, p.owner, plan) })
	if p.owner.GetResourceVersion() != before {
		p.owners.wrote(p.owner, p.rc.Now)
	}
	p.tellWrites(&report.Applied)
	report.Outcome.Requeue(report.Applied.RequeueAfter)
	p.over = late(ctx)
}

// requeue asks for the pass that the plan wants, also when its apply is blocked. A poll (RequeueAfter) is left out when a system outside of
// the cluster has failed: it would stand in for the backoff of the very system that is away.
func (p *pass[T, F, O]) requeue(report *Report) {
	if unobserved(&report.Applied) {
		report.Outcome.Requeue(observedWithin)
	}
	if p.plan.RequeueAfter != 0 && failedOutside(append(slices.Clone(p.reads.failed), report.Applied.Err())) {
		at := PlanResult{RequeueAt: p.plan.RequeueAt}
		if after, asked := at.RequeueIn(p.rc.Now); asked {
			report.Outcome.Requeue(after)
		}
		return
	}
	if after, asked := p.plan.RequeueIn(p.rc.Now); asked {
		report.Outcome.Requeue(after)
	}
}

// failedOutside reports whether one of the errors is that of a system outside of the cluster.
func failedOutside(errs []error) bool {
	var outside interface{ ExternalSystem() string }
	return errors.As(errors.Join(errs...), &outside)
}

// errs are the errors of the pass that no component reports: unreported reads, an error of planning, a panic, an exceeded
// budget, refused writes.
func (p *pass[T, F, O]) errs(report *Report) []error {
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
	for _, err := range split(report.Applied.Err()) {
		errs = append(errs, categorise(err))
	}
	return errs
}

func reported(components []health.Component, failed error) bool {
	return slices.ContainsFunc(components, func(c health.Component) bool {
		return slices.ContainsFunc(c.Errors, func(err error) bool { return errors.Is(err, failed) })
	})
}

// status derives the conditions, stores the status when it changed and announces what was stored.
func (p *pass[T, F, O]) status(ctx context.Context, report *Report, errs []error) {
	after := p.copied()
	report.Announced = p.announced()
	before := p.owner.GetConditions()
	if len(report.Announced) > 0 {
		before = slices.Concat(before, report.Announced)
	}
	manager := conditions.NewManager(before, p.owner.GetGeneration(), p.rc.Now)
	assessor := health.NewAssessor(manager, health.Options{Now: p.rc.Now, Grace: p.Grace})
	assessor.Observe(p.components...)
	assessor.Observe(health.Component{Errors: errs, Immediate: true})
	assessor.Observe(waiting(&report.Applied))
	if decorate := p.decorator(); decorate != nil && p.broken == nil {
		if err := p.run(ctx, PhaseDecorate, func(context.Context) { decorate(after, manager) }); err != nil {
			p.broken = err
			after = p.copied() // half a decoration is none
			assessor.Observe(health.Component{Errors: []error{err}, Immediate: true})
		}
	}
	if kept := report.Applied.PruneBlocked; kept != nil {
		manager.MarkTrue(PruneBlocked, string(kept.Reason), kept.Error(), conditions.AsWarning)
	}
	restore := p.verdict(manager, errs)
	report.Assessment = assessor.Summarize()
	restore()
	p.progress(manager, &report.Assessment)
	manager.RemoveStale(p.ownCondition())
	p.follow(report)
	p.store(ctx, report, after, manager)
}

// decorator is what sets the domain's part of the status, nil when nothing does.
func (p *pass[T, F, O]) decorator() func(T, *conditions.Manager) {
	switch deleted := !p.owner.GetDeletionTimestamp().IsZero(); {
	case deleted && p.phases.decorateDeletion != nil:
		return func(after T, manager *conditions.Manager) { p.phases.decorateDeletion(after, manager, p.rc.Object) }
	case deleted || !p.composed || p.Decorate == nil && p.phases.decorate == nil:
		return nil
	}
	return func(after T, manager *conditions.Manager) {
		if p.Decorate != nil {
			p.Decorate(after, manager, p.observation)
		}
		if p.phases.decorate != nil {
			p.phases.decorate(after, manager, &p.observation)
		}
	}
}

// verdict returns what restores the summary that the decorator has set itself, with its announcement, after the engine has
// made its own. It stands unless something went wrong that no phase knows of.
func (p *pass[T, F, O]) verdict(manager *conditions.Manager, errs []error) (restore func()) {
	announcement, set := manager.Announcement(conditions.Ready)
	verdict, found := manager.Get(conditions.Ready)
	if p.broken != nil || len(errs) > 0 || !set || !found {
		return func() {}
	}
	return func() { manager.Set(verdict.Type, verdict.Status, verdict.Reason, verdict.Message, announcement) }
}

// follow derives what comes next from the assessment.
func (p *pass[T, F, O]) follow(report *Report) {
	for _, err := range split(report.Assessment.Retry) {
		if settled(err) {
			report.Outcome.Terminal = append(report.Outcome.Terminal, err)
			report.Outcome.Requeue(p.TerminalRetry)
		} else {
			report.Outcome.Fail(err)
		}
	}
	report.Outcome.Requeue(report.Assessment.RequeueAfter)
	for _, err := range report.Assessment.Terminal {
		report.Outcome.Terminal = append(report.Outcome.Terminal, err)
		if refused(err) || err.Category == health.ProgramError {
			report.Outcome.Requeue(p.TerminalRetry)
		}
	}
	for _, err := range split(report.Applied.Err()) {
		// Nothing that is watched brings what a write has not found, such as its namespace.
		if found := categorise(err); lost(found) {
			report.Outcome.Terminal = append(report.Outcome.Terminal, found)
			report.Outcome.Requeue(p.TerminalRetry)
		}
	}
	var panicked *PanicError
	if errors.As(p.broken, &panicked) {
		p.rc.Log.Error(panicked, "a phase panicked", "phase", panicked.Phase, "stack", string(panicked.Stack))
	}
}

// store writes the status. Only what was stored is announced; a write that failed loses nothing of the outcome.
func (p *pass[T, F, O]) store(ctx context.Context, report *Report, after T, manager *conditions.Manager) {
	after.SetConditions(manager.Conditions())
	if owner, ok := any(after).(ObservedGenerationSetter); ok {
		owner.SetObservedGeneration(p.owner.GetGeneration())
	}
	if owner, ok := any(after).(StateSetter); ok {
		owner.SetState(report.Assessment.State)
	}
	managed := manager.Managed()
	ctx, end := toWriteStatus(ctx)
	defer end()
	var err error
	if broken := p.run(ctx, PhaseStatus, func(ctx context.Context) {
		report.StatusWritten, err = p.StatusWriter.WriteStatus(ctx, p.owner, after, managed)
	}); broken != nil {
		err = broken
	}
	p.owners.noteTypes(p.owner, managed, err == nil)
	if err != nil {
		p.unstored(report, err)
		return
	}
	if report.StatusWritten {
		p.owners.wrote(after, p.rc.Now)
	}
	report.Transitions = p.transitions(report, manager, after.GetConditions())
	p.announce(p.owner, p.rc.Log, report.Transitions)
}

// unstored notes why the status could not be stored. That the owner is gone is no error. Without the status subresource no
// retry helps: only its definition does, which is not watched.
func (p *pass[T, F, O]) unstored(report *Report, err error) {
	var missing *status.NoSubresourceError
	switch {
	case errors.As(err, &missing):
		report.Outcome.Terminal = append(report.Outcome.Terminal, err)
		report.Outcome.Requeue(p.TerminalRetry)
	case client.IgnoreNotFound(err) != nil:
		report.Outcome.Fail(fmt.Errorf("write the status: %w", err))
	}
}

// ownCondition reports which stored conditions are ours, set in an earlier pass or by a former manager. managedFields have it
// where the list is keyed by type. Where it is one value, all that a former manager has left there are; of its own this process
// knows which it has set; after a restart it knows of PruneBlocked, Paused, Stalled and Reconciling alone, which nobody else has a use for,
// as long as nobody else has written the list since.
func (p *pass[T, F, O]) ownCondition() func(conditionType string) bool {
	if p.FieldManager == "" {
		return nil
	}
	fields := p.owner.GetManagedFields()
	owned := ownedconditions.Types(fields, p.managers...)
	former := ownedconditions.WholeList(fields, p.FormerManagers...)
	return func(conditionType string) bool {
		switch {
		case former, owned(conditionType), p.owners.hasSet(p.owner, conditionType):
			return true
		}
		return (conditionType == PruneBlocked || conditionType == ConditionPaused || ofProgress(conditionType)) && ownedconditions.WholeList(fields, p.FieldManager)
	}
}
