package search

import (
	"context"
	"errors"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// run executes one case and checks its end.
func (e *explorer) run(ctx context.Context, c baseline.Case) {
	v := c.Spec.Variant
	v.Inject = slices.Clone(v.Inject) // each run has its own counts
	for n, fault := range v.Inject {
		own := *fault
		v.Inject[n] = &own
	}
	c.Spec.Variant = v
	system := e.System
	if c.System != nil {
		system = *c.System
	}
	r := run.Execute(ctx, system, c.Spec, "")
	if r.Last != nil {
		defer r.Last.End()
	}
	e.mu.Lock()
	e.out.Cases++
	e.out.Passes += r.Passes
	if e.only != "" {
		e.out.Trace = r.Trace()
	}
	e.mu.Unlock()
	defer func() { e.CheckPanic(c.Name, r) }()
	if r.Err != nil {
		if _, unsteadyErr := unsteady(r.Err); unsteadyErr {
			e.Find(c.Name, finding.CheckRest, "%v", r.Err)
		} else if !errors.Is(r.Err, context.Canceled) {
			e.Find(c.Name, finding.CheckRun, "%v", r.Err)
		}
		return
	}
	if len(v.Inject) > 0 && !r.FaultHappened {
		c.Final = c.Spec.Steps[len(c.Spec.Steps)-1] // the fault has not changed or deleted the owner
	}
	e.miss(v.Inject)
	r.Last.Wire.Arm() // remaining faults must not affect the checks
	e.CheckDuring(c, r)
	if c.Act != nil {
		c.Act(ctx, r)
		return
	}
	if len(v.Inject) > 0 && v.Inject[0].Fault == transport.FaultReplaced {
		e.CheckForeign(ctx, c, r)
		return
	}
	if v.Alone == "" { // otherwise children may be deleted for their owner's former state, and be recreated
		e.CheckDeletes(c, r)
	}
	state, err := r.Cluster.State()
	if err != nil {
		e.Find(c.Name, finding.CheckRun, "%v", err)
		return
	}
	if e.CompareAs(c.Name, c.Base, c.Final, state) && e.System.Horizon == 0 {
		e.CheckQuiet(ctx, c.Name, r, false)
	}
}
