package search

import (
	"context"
	"errors"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// run executes one case and checks its end.
func (e *explorer) run(ctx context.Context, c story.Case) {
	v := c.Plot.Variant
	v.Inject = slices.Clone(v.Inject) // each run has its own counts
	for n, fault := range v.Inject {
		own := *fault
		v.Inject[n] = &own
	}
	c.Plot.Variant = v
	system := e.System
	if c.System != nil {
		system = *c.System
	}
	r := run.Play(ctx, system, c.Plot, "")
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
		if _, restless := restlessness(r.Err); restless {
			e.Find(c.Name, finding.CheckRest, "%v", r.Err)
		} else if !errors.Is(r.Err, context.Canceled) {
			e.Find(c.Name, finding.CheckRun, "%v", r.Err)
		}
		return
	}
	if len(v.Inject) > 0 && !r.Struck {
		c.Final = c.Plot.Steps[len(c.Plot.Steps)-1] // the fault has not changed or deleted the owner
	}
	e.miss(v.Inject)
	r.Last.Wire.Arm() // remaining faults must not affect the checks
	e.CheckOnTheWay(c, r)
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
	state, err := r.World.State()
	if err != nil {
		e.Find(c.Name, finding.CheckRun, "%v", err)
		return
	}
	if e.CompareAs(c.Name, c.Base, c.Final, state) && e.System.Horizon == 0 {
		e.CheckQuiet(ctx, c.Name, r, false)
	}
}
