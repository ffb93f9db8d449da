package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/status"
)

// PruneBlocked is the type of the condition that is True while children that are no longer planned are kept. Its message
// names them and the reason. It is absent otherwise.
const PruneBlocked = "PruneBlocked"

// ReasonOverridden is the reason of the condition Ready while a mutating webhook or policy, or the API server, stores other values in
// planned fields. The owner is still ready: the change may be intended, such as a registry mirror.
const ReasonOverridden = "Overridden"

// status derives the conditions, stores the status if it changed, and announces stored changes.
func (p *pass[T, F, O]) status(ctx context.Context, report *reconcile.Report, errs []error) {
	after := p.copied()
	report.Announced = p.announced()
	before := p.conditions.Get(p.owner)
	if len(report.Announced) > 0 {
		before = slices.Concat(before, report.Announced)
	}
	manager := conditions.NewManager(before, p.owner.GetGeneration(), p.rc.Now)
	assessor := health.NewAssessor(manager, health.Options{Now: p.rc.Now, Grace: p.Grace})
	p.components = withNotInstalled(p.components, report.Applied.NotInstalled)
	assessor.Observe(p.components...)
	assessor.Observe(health.Component{Errors: errs, Immediate: true})
	unlike := unlikePlan(&report.Applied, p.owner.GetUID())
	assessor.Observe(unlike)
	complete := p.complete()
	if decorate := p.decorator(report.Blocked); decorate != nil && complete {
		if err := p.run(ctx, reconcile.PhaseDecorate, func(context.Context) { decorate(after, manager) }); err != nil {
			p.broken = err
			after = p.copied() // discard a partial decoration
			assessor.Observe(health.Component{Errors: []error{err}, Immediate: true})
		}
	}
	if kept := report.Applied.PruneBlocked; kept != nil {
		manager.MarkTrue(PruneBlocked, string(kept.Reason), kept.Error(), conditions.AsWarning)
	}
	restore := p.verdict(manager, errs, unlike.Reason != "")
	report.Assessment = assessor.Summarize()
	if isReady(manager) {
		if text := overridden(&report.Applied); text != "" {
			manager.MarkTrue(conditions.Ready, ReasonOverridden, text)
		}
	}
	nameNotInstalled(manager, report.Applied.NotInstalled)
	restore()
	report.Outcome.Requeue(setKstatus(manager, p.components, &report.Assessment, p.ProgressDeadline))
	report.Ready = isReady(manager)
	manager.RemoveStale(p.stale(complete && (p.Children == nil || report.Blocked == nil)))
	p.follow(report)
	p.store(ctx, report, after, manager)
}

func isReady(manager *conditions.Manager) bool {
	ready, found := manager.Get(conditions.Ready)
	return found && ready.Status == metav1.ConditionTrue
}

// complete reports whether the observation has all its inputs: no phase panicked, and no read failed. A response that rejects the
// owner's spec is complete.
func (p *pass[T, F, O]) complete() bool {
	return p.broken == nil && !slices.ContainsFunc(p.reads.failed, func(err error) bool {
		return health.Categorize(err).Category != health.InvalidSpec
	})
}

// decorator returns the function that sets the domain's part of the status, nil if there is none.
func (p *pass[T, F, O]) decorator(blocked error) func(T, *conditions.Manager) {
	switch deleted := !p.owner.GetDeletionTimestamp().IsZero() && !p.composed; {
	case deleted && p.phases.decorateDeletion != nil:
		return func(after T, manager *conditions.Manager) { p.phases.decorateDeletion(after, manager, p.rc.Object) }
	case deleted || !p.composed || p.Decorate == nil && p.phases.decorate == nil:
		return nil
	}
	return func(after T, manager *conditions.Manager) {
		if p.Decorate != nil {
			p.Decorate(after, p.observation)
		}
		if p.phases.decorate != nil {
			p.phases.decorate(after, manager, reconcile.StatusContext[T]{ReconcileContext: p.rc, Blocked: blocked}, &p.observation)
		}
	}
}

// verdict returns a function that restores the summary and its announcement as set by the decorator, after the engine has set its own.
// The decorator's summary is discarded if an error occurred that no phase knows, or if it reports ready although children differ from
// the plan.
func (p *pass[T, F, O]) verdict(manager *conditions.Manager, errs []error, unlike bool) (restore func()) {
	announcement, set := manager.Announcement(conditions.Ready)
	verdict, found := manager.Get(conditions.Ready)
	if p.broken != nil || len(errs) > 0 || !set || !found || unlike && verdict.Status == metav1.ConditionTrue {
		return func() {}
	}
	return func() { manager.Set(verdict.Type, verdict.Status, verdict.Reason, verdict.Message, announcement) }
}

// follow derives the retries and requeues from the assessment.
func (p *pass[T, F, O]) follow(report *reconcile.Report) {
	for _, err := range splitErrors(report.Assessment.Retry) {
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
	for _, err := range splitErrors(report.Applied.Err()) {
		// No watch reports the appearance of an object that a write requires, such as its namespace.
		if found := categorize(err); awaitsEvent(found) {
			report.Outcome.Terminal = append(report.Outcome.Terminal, found)
			report.Outcome.Requeue(p.TerminalRetry)
		}
	}
	var panicked *reconcile.PanicError
	if errors.As(p.broken, &panicked) {
		p.rc.Log.Error(panicked, "a phase panicked", "phase", panicked.Phase, "stack", string(panicked.Stack))
	}
}

// store writes the status. It announces only stored changes. A failed write does not change the rest of the outcome.
func (p *pass[T, F, O]) store(ctx context.Context, report *reconcile.Report, after T, manager *conditions.Manager) {
	list, managed := p.kept(manager)
	p.conditions.Set(after, list)
	if owner, ok := any(after).(reconcile.ObservedGenerationSetter); ok {
		owner.SetObservedGeneration(p.owner.GetGeneration())
	}
	if owner, ok := any(after).(reconcile.StateSetter); ok {
		owner.SetState(report.Assessment.State)
	}
	ctx, end := toWriteStatus(ctx)
	defer end()
	var err error
	if broken := p.run(ctx, reconcile.PhaseWriteStatus, func(ctx context.Context) {
		report.StatusWritten, err = p.StatusWriter.WriteStatus(ctx, p.owner, after, managed)
	}); broken != nil {
		err = broken
	}
	p.owners.NoteTypes(p.owner, managed, err == nil)
	if err != nil {
		p.unstored(report, err)
		return
	}
	if report.StatusWritten {
		p.owners.Wrote(after, p.rc.Now)
	}
	report.Transitions = slices.DeleteFunc(p.transitions(report, manager, p.conditions.Get(after)), func(t conditions.Transition) bool {
		return !p.keeps(t.After.Type)
	})
	p.announce(p.owner, p.rc.Log, report.Transitions)
}

// keeps reports whether the owners have a condition of the type.
func (p *Pipeline[T, F, O]) keeps(conditionType string) bool {
	return p.Conditions == nil || p.Conditions(conditionType)
}

// kept returns the conditions to store, and the types of those that this pass set. It omits conditions that the pass set and the owners
// do not have. A condition of another writer with such a type does not change.
func (p *pass[T, F, O]) kept(manager *conditions.Manager) (list []metav1.Condition, managed []string) {
	list, managed = manager.Conditions(), manager.Managed()
	if p.Conditions == nil {
		return list, managed
	}
	unwanted := func(conditionType string) bool { return !p.keeps(conditionType) }
	left := slices.DeleteFunc(slices.Clone(managed), p.keeps)
	managed = slices.DeleteFunc(managed, unwanted)
	list = slices.DeleteFunc(list, func(c metav1.Condition) bool { return slices.Contains(left, c.Type) })
	own := p.ownCondition()
	for _, c := range p.conditions.Get(p.owner) {
		if slices.Contains(left, c.Type) && own != nil && !own(c.Type) {
			list = append(list, c)
		}
	}
	return list, managed
}

// unstored records why the status could not be stored. A deleted owner is not an error. A missing status subresource is not retried,
// because only a change of the CRD helps, which is not watched.
func (p *pass[T, F, O]) unstored(report *reconcile.Report, err error) {
	var missing *status.NoSubresourceError
	switch {
	case errors.As(err, &missing):
		report.Outcome.Terminal = append(report.Outcome.Terminal, err)
		report.Outcome.Requeue(p.TerminalRetry)
	case client.IgnoreNotFound(err) != nil:
		report.Outcome.Fail(fmt.Errorf("write the status: %w", err))
	}
}

// ownCondition returns a function that reports whether a stored condition belongs to this controller, set in an earlier pass or by a former
// manager. If the list is keyed by type, managedFields have the owner of each condition. If the list is one value, all conditions that a
// former manager wrote belong to this controller, and those that this process has set. After a restart it recognizes only PruneBlocked,
// Paused, Stalled and Reconciling, which other writers do not use, until another writer writes the list.
func (p *pass[T, F, O]) ownCondition() func(conditionType string) bool {
	if p.FieldManager == "" {
		return nil
	}
	var fields []metav1.ManagedFieldsEntry
	var owned func(conditionType string) bool
	var former bool
	return func(conditionType string) bool {
		if owned == nil { // most passes do not call it
			fields = p.owner.GetManagedFields()
			owned = ownedConditions(fields, p.managers...)
			former = wholeList(fields, p.FormerManagers...)
		}
		switch {
		case former, owned(conditionType), p.owners.HasSet(p.owner, conditionType):
			return true
		}
		return ofEngine(conditionType) && wholeList(fields, p.FieldManager)
	}
}

// stale returns a function that reports whether a stored condition is removed if it was not set: all conditions of this controller, or, if
// components and the decorator are not known, only those of the engine.
func (p *pass[T, F, O]) stale(known bool) func(conditionType string) bool {
	own := p.ownCondition()
	if known || own == nil {
		return own
	}
	return func(conditionType string) bool { return ofEngine(conditionType) && own(conditionType) }
}

// ofEngine reports whether only the engine sets conditions of the type.
func ofEngine(conditionType string) bool {
	return conditionType == PruneBlocked || conditionType == ConditionPaused || setsKstatus(conditionType)
}

// announced returns the conditions of earlier passes that the owner's type does not keep. Transitions are relative to them.
func (p *pass[T, F, O]) announced() []metav1.Condition {
	if known, list := p.owners.Unkept(p.owner); known {
		return list
	}
	return nil
}

// transitions returns the transitions to announce: of stored conditions, and of those that the owner's type does not keep.
// The latter are unknown after a restart; then a pass that stores nothing announces nothing.
func (p *pass[T, F, O]) transitions(
	report *reconcile.Report, manager *conditions.Manager, kept []metav1.Condition,
) []conditions.Transition {
	unkept := p.unkept(manager, kept)
	if len(unkept)+len(report.Announced) == 0 {
		if report.StatusWritten {
			return manager.Transitions()
		}
		return nil
	}
	p.owners.NoteUnkept(p.owner, unkept)
	return slices.DeleteFunc(manager.Transitions(), func(t conditions.Transition) bool {
		return !report.StatusWritten && (len(report.Announced) == 0 || !has(unkept, t.After.Type))
	})
}

// unkept returns the conditions of this pass that the owner's type does not keep.
func (p *pass[T, F, O]) unkept(manager *conditions.Manager, kept []metav1.Condition) (list []metav1.Condition) {
	for c := range manager.EachManaged {
		if !has(kept, c.Type) {
			list = append(list, c)
		}
	}
	return list
}

func has(list []metav1.Condition, conditionType string) bool {
	return meta.FindStatusCondition(list, conditionType) != nil
}
