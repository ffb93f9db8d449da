package search

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/difference"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// left lets the first of two owners go: the second one must have what it has alone. Where it cannot be alone there is nothing to say.
func (e *explorer) left(ctx context.Context, place string, pair description.Prepared) {
	name := besideName + place + ", and the first one goes"
	e.played = append(e.played, name)
	alone := e.System
	alone.Owners = pair.Owners[1:]
	plot := run.Plot{Steps: []description.Step{description.StepA}}
	want, err := endOf(ctx, alone, plot)
	if err != nil {
		return
	}
	again, err := endOf(ctx, alone, plot)
	if err != nil {
		return
	}
	pair.Leaves = 0
	got, err := endOf(ctx, pair, run.Plot{Steps: []description.Step{description.StepA, description.StepLess}, At: 1})
	if err != nil {
		e.Find(name, finding.CheckRest, "%v", err)
		return
	}
	drawn := difference.Drawn{}
	drawn.Add(want, again)
	drawn.Mask(want)
	drawn.Mask(got)
	for object := range want {
		if again[object] == nil || e.System.MayOutlive(object) {
			delete(want, object)
		}
	}
	if diff := difference.Between(remains(want, got)); len(diff) > 0 {
		e.Find(name, finding.CheckState, "once the first owner has gone the second one has not what it has alone:\n%s", difference.Print(diff))
	}
}

// remains are what the second owner must have, and what it has of that. Of what it does not control, and may share, only the existence
// counts: the content may say who was first.
func remains(want, got world.State) (wanted, found world.State) {
	wanted, found = world.State{}, world.State{}
	for object, content := range want {
		wanted[object] = world.SpecOf(content)
		switch {
		case got[object] == nil:
		case controlled(content) && controlled(got[object]):
			found[object] = world.SpecOf(got[object])
		default:
			found[object] = wanted[object]
		}
	}
	return wanted, found
}
