package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// addBaselines runs the specs without faults.
func (e *explorer) addBaselines(ctx context.Context) error {
	for _, steps := range e.System.Sequences() {
		if e.Done() {
			return nil
		}
		if err := e.addBaseline(ctx, steps...); err != nil {
			return err
		}
	}
	return e.another(ctx)
}

// horizon sets a horizon for a system that would never stop: eight of its own time-driven changes.
func (e *explorer) horizon(ctx context.Context) error {
	if e.System.Horizon > 0 {
		return nil
	}
	r := run.Execute(ctx, e.System, run.Spec{Steps: []description.Step{description.StepA}}, "")
	if r.Last == nil {
		return r.Err
	}
	defer r.Last.End()
	if r.Cluster.Perpetual {
		lasted := r.Cluster.Clock.Now().Sub(r.Cluster.Began)
		// Not at the last change itself: a failure must have time for a retry.
		e.System.Horizon = lasted + min(run.Quiet, lasted/(2*run.MaxFirings))
		e.out.Horizon = e.System.Horizon
	}
	if r.Err == nil {
		e.Probe = r.Cluster
	}
	return nil
}

// addBaseline runs one spec without faults and checks it. The first one with a last step defines the end state of that step.
func (e *explorer) addBaseline(ctx context.Context, steps ...description.Step) error {
	p := run.Spec{Steps: steps, At: len(steps) - 1, Listen: len(steps) == 1}
	r := run.Execute(ctx, e.System, p, "")
	if r.Last != nil {
		defer r.Last.End()
	}
	name := "no fault, " + baseline.NameOf(steps)
	e.executed = append(e.executed, name)
	if r.Err != nil {
		if _, unsteadyErr := unsteady(r.Err); unsteadyErr {
			e.Find(name, finding.CheckRest, "%v", r.Err)
			return nil
		}
		return fmt.Errorf("run without faults (%s): %w", name, r.Err)
	}
	b := baseline.Of(steps, r)
	e.out.Passes += r.Passes
	last := b.Last()
	state, err := r.Cluster.State()
	if err != nil {
		return err
	}
	switch {
	case e.End(last) == nil:
		if state, err = e.Twin(ctx, p, r); err != nil {
			return err
		}
		b = baseline.Of(steps, r) // random names are known now
		e.Random.Mask(state)
		e.Expect(last, state)
	case e.System.Horizon == 0 && b.Again() && e.System.Singleton == nil:
		if err := e.CompareRecreated(ctx, name, r, state); err != nil {
			return err
		}
	case e.System.Horizon == 0:
		e.Compare(name, last, state)
	}
	e.Random.Mask(state)
	b.State = state
	if err := e.Learn(r); err != nil {
		return err
	}
	e.CheckSecrets(name, r)
	e.CheckEarly(name, r)
	e.CheckRefused(name, r)
	e.CheckProgramErrors(name, r)
	if last != description.StepDelete && e.System.Horizon == 0 {
		e.NoteUnready(last, r)
	}
	e.CheckGaps(name, r)
	e.CheckInvariants(name, r)
	e.CheckStatus(name, r)
	if last == description.StepDelete && e.System.Singleton == nil {
		e.CheckOrphans(ctx, name, state)
	}
	if e.System.Horizon == 0 {
		e.CheckSteady(name, r)
	}
	e.CheckQuiet(ctx, name, r, true)
	e.Baselines = append(e.Baselines, b)
	return nil
}

// unsteady reports whether the runs without faults have no reproducible end state.
func (e *explorer) unsteady() bool {
	return slices.ContainsFunc(e.Findings(), func(f finding.Finding) bool {
		return f.Check == finding.CheckRest && !strings.HasPrefix(f.Case, besideName)
	})
}
