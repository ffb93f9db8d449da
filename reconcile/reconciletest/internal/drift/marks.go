package drift

import (
	"context"
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// marks returns the cases in which another client sets a finalizer and an annotation on an owner just before the operator writes it: a
// write based on an older version must not remove them.
func marks(j *checker.Checker) []baseline.Case {
	var cases []baseline.Case
	kinds := j.Probe.OwnerKinds()
	for _, s := range j.Baselines {
		if len(s.Steps) > 2 || s.Steps[0] != description.StepA || !slices.Contains([]description.Step{description.StepA, description.StepB}, s.Last()) { //nolint:mnd // creation and change
			continue
		}
		for _, c := range s.Calls[:min(len(s.Calls), baseline.ManyCalls)] {
			if !kinds[c.GVK.GroupKind()] || c.Request.Subresource != "" || c.Before == nil || !slices.Contains([]string{"update", "patch", "apply"}, c.Request.Verb) {
				continue
			}
			one := s.Varied(fmt.Sprintf("%s of %s", transport.FaultMarked, c),
				run.Variation{Inject: []*transport.Injection{{Call: c.String(), Fault: transport.FaultMarked}}})
			target := baseline.Target{GVK: c.GVK, Key: c.Key}
			one.Act = func(ctx context.Context, r *run.Run) {
				(&disturbance{checker: j, name: one.Name, run: r}).marked(ctx, target, s)
			}
			cases = append(cases, one)
		}
	}
	return cases
}

// marked checks that an owner still has another client's marks that were set in the middle of a pass. Otherwise the state must be that
// without a fault.
func (d *disturbance) marked(ctx context.Context, t baseline.Target, s *baseline.Baseline) {
	if !d.run.FaultHappened || d.object(t) == nil || !d.keeps([]baseline.Target{t}, hold) {
		return
	}
	if d.update(ctx, t, unmark) && d.settle(ctx) {
		d.same(s.State.Clone())
	}
}
