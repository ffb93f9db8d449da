package drift

import (
	"context"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// overlaps returns the cases with concurrent passes: others run in the middle of one, in steady state before each of its cached reads.
// With one owner a second one is added, and others also run before each write that creates children.
func overlaps(j *checker.Checker, first *baseline.Baseline) []baseline.Case {
	if !first.Overlaps && j.PairEnd == nil {
		return nil
	}
	var cases []baseline.Case
	add := func(name string, v run.Variation, act func(ctx context.Context, d *disturbance)) {
		one := first.Varied(name, v)
		if !first.Overlaps {
			one.System = j.Pair
		}
		one.Act = func(ctx context.Context, r *run.Run) { act(ctx, &disturbance{checker: j, name: one.Name, run: r}) }
		cases = append(cases, one)
	}
	for _, read := range first.Reads {
		add(fmt.Sprintf("steady state: %s with the cached read: %s", transport.FaultInterleave, read), run.Variation{},
			func(ctx context.Context, d *disturbance) { d.interleave(ctx, read) })
	}
	if first.Overlaps {
		return cases
	}
	for _, c := range first.Calls[:min(len(first.Calls), baseline.ManyCalls)] {
		if c.Request.IsWrite() {
			add(fmt.Sprintf("two owners: %s with %s", transport.FaultInterleave, c),
				run.Variation{Inject: []*transport.Injection{{Call: c.String(), Fault: transport.FaultInterleave}}},
				func(_ context.Context, d *disturbance) { d.same(j.PairEnd.Clone()) })
		}
	}
	return cases
}

// interleave runs a pass of every owner, and others in the middle of the first one with the read. No pass should change anything.
func (d *disturbance) interleave(ctx context.Context, read string) {
	before := d.state()
	d.run.Last.View.Reads.Before(read, d.run.Last.Interleave)
	writes, steady := d.writes(ctx)
	switch {
	case !steady:
	case len(writes) > 0:
		d.checker.Find(d.name, finding.CheckState, "passes that send nothing one after the other send %s when they run concurrently: "+
			"one uses state that another one has stored", strings.Join(writes, ", "))
	default:
		d.same(before)
	}
}
