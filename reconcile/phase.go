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

// The phases, in the order in which they run. A reconciliation that finalizes an owner runs PhaseFetch, PhaseFinalize, PhaseApply,
// PhaseDecorate and PhaseWriteStatus.
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

// PanicError is a recovered panic of a phase. Equal panics have equal messages, so a condition with the message is stable;
// the stack is only in the log.
type PanicError struct {
	// Phase is the phase that panicked.
	Phase Phase
	// Value is the argument of the panic.
	Value any
	// Stack is the stack of the goroutine at the time of the panic.
	Stack []byte
}

// Error returns a message with the phase and the panic value.
func (e *PanicError) Error() string { return fmt.Sprintf("phase %s panicked: %v", e.Phase, e.Value) }

// Unwrap returns the panic value when it is an error, nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// HealthCategory returns ProgramError.
func (e *PanicError) HealthCategory() string { return string(health.ProgramError) }

// HealthReason returns the reason of the condition, Panic.
func (e *PanicError) HealthReason() string { return "Panic" }

// Observer receives phase and reconciliation events, for metrics and traces. It must be safe for concurrent use.
type Observer interface {
	// PhaseStart is called before each phase. The phase runs with the returned context: ctx, or one with a span.
	PhaseStart(ctx context.Context, phase Phase) context.Context
	// PhaseDone is called after each phase with the context of PhaseStart; err is a [PanicError] or nil.
	PhaseDone(ctx context.Context, phase Phase, took time.Duration, err error)
	// PassDone is called at the end of each reconciliation with its context.
	PassDone(ctx context.Context, report Report)
}

// Report describes one reconciliation, for metrics, traces and explanations.
type Report struct {
	// Request names the owner.
	Request ctrl.Request
	// Gone reports whether the owner no longer exists. The other fields are then empty.
	Gone bool
	// Paused reports whether the owner is paused. Only the condition Paused was written then, and there is neither a plan
	// nor an assessment.
	Paused bool
	// Generation is the generation of the owner that was reconciled.
	Generation int64
	// Ready reports whether the condition Ready is True after the reconciliation.
	Ready bool
	// Plan is the result of PlanResources or Finalize.
	Plan PlanResult
	// Components is the result of GetComponentHealth.
	Components []health.Component
	// Applied has the result for each object of the plan. It is empty when the apply was blocked.
	Applied apply.Result
	// Blocked is the reason why nothing was applied, nil when the plan was applied.
	Blocked error
	// Assessment is the state of the owner.
	Assessment health.Assessment
	// Announced are the conditions of earlier reconciliations that the owner's type cannot store. The pipeline stores them
	// instead.
	Announced []metav1.Condition
	// Transitions are the changed conditions, which were stored when the owner's type can store them.
	Transitions []conditions.Transition
	// StatusWritten reports whether the status was written.
	StatusWritten bool
	// Outcome has the errors and the requeue.
	Outcome Outcome
	// Handled is the error that the engine has logged itself, because a requeue replaces the backoff.
	Handled error
	// Next is the delay until the next reconciliation by a requeue or a backoff. Zero means that an event triggers it.
	Next time.Duration
}
