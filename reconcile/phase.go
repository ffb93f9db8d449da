package reconcile

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Phase names a step of a reconciliation, in logs, metrics and traces.
type Phase string

// The phases, in the order in which they run. A reconciliation of an owner that is being deleted runs PhaseFetch, PhaseFinalize,
// PhaseApply, PhaseDecorate and PhaseWriteStatus.
const (
	// PhaseMigrate is the method Migrate, and the write of the owner when it changed. See [Migrator].
	PhaseMigrate Phase = "Migrate"
	// PhaseFetch is the method FetchRemoteState.
	PhaseFetch Phase = "FetchRemoteState"
	// PhaseCompose is the method ComposeState. See [Composer].
	PhaseCompose Phase = "ComposeState"
	// PhasePlan is the method PlanResources.
	PhasePlan Phase = "PlanResources"
	// PhaseFinalize is the method Finalize, for an owner that is being deleted. See [Finalizer].
	PhaseFinalize Phase = "Finalize"
	// PhaseHealth is the method GetComponentHealth. See [Observation].
	PhaseHealth Phase = "GetComponentHealth"
	// PhaseApply writes the children. It does not run when the apply is blocked.
	PhaseApply Phase = "Apply"
	// PhaseObserveApply is the method ObserveApply. See [ApplyObserver].
	PhaseObserveApply Phase = "ObserveApply"
	// PhaseDecorate is the method DecorateStatus, or DecorateDeletion. See [StatusDecorator].
	PhaseDecorate Phase = "DecorateStatus"
	// PhaseWriteStatus compares the status with the stored one, and writes it when it changed.
	PhaseWriteStatus Phase = "WriteStatus"
)

// PanicError is a panic in a phase, caught at the phase's edge. Its text is the same for the same panic, so that a
// condition made from it is stable; the stack is kept apart for the log.
type PanicError struct {
	// Phase is where it happened.
	Phase Phase
	// Value is what the phase panicked with.
	Value any
	// Stack is the stack of the goroutine at the panic.
	Stack []byte
}

// Error names the phase and the panic value.
func (e *PanicError) Error() string { return fmt.Sprintf("phase %s panicked: %v", e.Phase, e.Value) }

// Unwrap returns the panic value when it is an error, nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// HealthCategory names a panic a mistake of the program.
func (e *PanicError) HealthCategory() string { return string(health.ProgramError) }

// HealthReason is the reason of the condition.
func (e *PanicError) HealthReason() string { return "Panic" }

// Observer is told what happens in the passes of a controller; implementations make metrics and traces of it. It is
// called from several workers at once.
type Observer interface {
	// PhaseStart is called at the start of each phase, which runs with the context that it returns: ctx, or one with a
	// span in it.
	PhaseStart(ctx context.Context, phase Phase) context.Context
	// PhaseDone is called at the end of each phase with the context of PhaseStart; err is a [PanicError] or nil.
	PhaseDone(ctx context.Context, phase Phase, took time.Duration, err error)
	// PassDone is called at the end of each pass with the context of the pass.
	PassDone(ctx context.Context, report Report)
}

// Report is what one pass did, for metrics, traces and explanations.
type Report struct {
	// Request names the owner.
	Request ctrl.Request
	// Gone reports whether the owner does not exist any more: all else here is empty.
	Gone bool
	// Paused reports whether the owner is paused: nothing was read or written for it but the condition Paused, and there is neither a plan
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
