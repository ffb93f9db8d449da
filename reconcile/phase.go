package reconcile

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
)

// Phase names a step of the pass, in logs, metrics and traces.
type Phase string

// The phases of a pass, in their order.
const (
	PhaseMigrate  Phase = "Migrate"
	PhaseFetch    Phase = "FetchRemoteState"
	PhaseCompose  Phase = "ComposeState"
	PhasePlan     Phase = "PlanResources"
	PhaseFinalize Phase = "Finalize"
	PhaseHealth   Phase = "GetComponentHealth"
	PhaseApply    Phase = "Apply"
	// PhaseObserveApply is there where the reconciler is an [ApplyObserver].
	PhaseObserveApply Phase = "ObserveApply"
	PhaseDecorate     Phase = "DecorateStatus"
	PhaseStatus       Phase = "WriteStatus"
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

// run carries out one phase with the context of the observer, turns a panic into a [PanicError] and tells the observer how
// long it took.
func (p *pass[T, F, O]) run(ctx context.Context, phase Phase, step func(context.Context)) (err error) {
	start := p.Clock.Now()
	ctx = p.Observer.PhaseStart(ctx, phase)
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Phase: phase, Value: value, Stack: debug.Stack()}
		}
		p.Observer.PhaseDone(ctx, phase, p.Clock.Since(start), err)
	}()
	step(ctx)
	return nil
}

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

type noObserver struct{}

func (noObserver) PhaseStart(ctx context.Context, _ Phase) context.Context { return ctx }
func (noObserver) PhaseDone(context.Context, Phase, time.Duration, error)  {}
func (noObserver) PassDone(context.Context, Report)                        {}
