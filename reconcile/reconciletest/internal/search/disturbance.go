package search

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// disturbance is a world at rest that others disturb.
type disturbance struct {
	explorer *explorer
	name     string
	run      *run.Run
}

// disturbs reports whether the system has cases in which others disturb a world at rest.
func (e *explorer) disturbs() bool {
	return e.system.Horizon == 0 && len(e.plots) > 0 && e.system.Singleton == nil && e.probe != nil
}

// disturbances are the cases in which others do something to a world at rest. A world in which time goes on has none.
func (e *explorer) disturbances() []testCase {
	if !e.disturbs() {
		return nil
	}
	first := e.plots[0]
	var cases []testCase
	add := func(name string, act func(ctx context.Context, d *disturbance)) {
		one := first.varied("at rest: "+name, run.Variation{})
		one.act = act
		cases = append(cases, one)
	}
	for _, child := range e.children() {
		add("delete of "+child.String(), func(ctx context.Context, d *disturbance) { d.deleted(ctx, child) })
		add("edits of "+child.String(), func(ctx context.Context, d *disturbance) { d.edited(ctx, child) })
		add("annotation of somebody else on "+child.String(), func(ctx context.Context, d *disturbance) { d.annotated(ctx, child) })
		add("failure of "+child.String(), func(ctx context.Context, d *disturbance) { d.failing(ctx, child) })
	}
	for _, kind := range e.system.Optional {
		add("not served: "+kind.String(), func(ctx context.Context, d *disturbance) { d.unserved(ctx, kind) })
	}
	cases = append(cases, e.takeovers(first)...)
	for _, input := range e.inputs() {
		add("change of "+input.String(), func(ctx context.Context, d *disturbance) { d.changed(ctx, input) })
		if e.pair != nil {
			cases[len(cases)-1].system = e.pair
		}
	}
	for _, read := range first.reads {
		add("cached read fails twice: "+read, func(ctx context.Context, d *disturbance) {
			d.run.Last.View.Reads.Failing(read, 2) //nolint:mnd // times
			d.unread(ctx)
		})
	}
	known := map[string]bool{}
	for _, read := range first.live {
		request := read.Request.String()
		if !known[request] {
			known[request] = true
			add("read fails twice: "+request, func(ctx context.Context, d *disturbance) {
				d.run.Last.Wire.Arm(&transport.Injection{Call: request, Fault: transport.FaultError, Lasting: 2}) //nolint:mnd // times
				d.unread(ctx)
			})
		}
	}
	for _, later := range []time.Duration{time.Hour, 40 * 24 * time.Hour} {
		add(fmt.Sprintf("%s pass", later), func(ctx context.Context, d *disturbance) { d.later(ctx, later) })
	}
	return cases
}

// settle lets the operator answer, and reports whether it has come to rest.
func (d *disturbance) settle(ctx context.Context) bool {
	if err := d.run.Last.Settle(ctx); err != nil {
		d.explorer.find(d.name, finding.CheckRest, "%v", err)
		return false
	}
	return true
}

// object is the target as it is stored now, nil when it is not there.
func (d *disturbance) object(t target) *unstructured.Unstructured {
	items, err := d.run.World.List(t.gvk)
	if err != nil || items[t.key] == nil {
		return nil
	}
	return items[t.key].DeepCopy()
}

// writes lets every owner have a pass, and returns what that has changed: somebody should have been woken for it.
func (d *disturbance) writes(ctx context.Context) (writes []string, rested bool) {
	sent := len(d.run.Last.Wire.Calls())
	d.run.Last.Scheduler.WakeAll()
	if !d.settle(ctx) {
		return nil, false
	}
	return changedBy(d.run.Last.Wire.Calls()[sent:]), true
}

// unwoken reports that a pass that comes for another reason has something left to do.
func (d *disturbance) unwoken(ctx context.Context, what string) bool {
	writes, rested := d.writes(ctx)
	if rested && len(writes) > 0 {
		d.explorer.find(d.name, finding.CheckWatch, "nobody is woken by %s: only a pass that comes for another reason sends %s",
			what, strings.Join(writes, ", "))
	}
	return len(writes) > 0 || !rested
}

// same compares the world with what it was before.
func (d *disturbance) same(before world.State) {
	got, err := d.run.World.State()
	if err != nil {
		d.explorer.find(d.name, finding.CheckRun, "%v", err)
		return
	}
	d.explorer.drawn.mask(before)
	d.explorer.matches(d.name, before, got)
}

func (d *disturbance) state() world.State {
	state, err := d.run.World.State()
	if err != nil {
		d.explorer.find(d.name, finding.CheckRun, "%v", err)
	}
	return state
}
