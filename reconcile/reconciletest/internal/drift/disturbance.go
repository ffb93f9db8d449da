package drift

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/verdict"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

const note = transport.Note

// disturbance is a world in steady state that others disturb.
type disturbance struct {
	judge *verdict.Judge
	name  string
	run   *run.Run
}

// settle runs the operator and reports whether it has come to rest.
func (d *disturbance) settle(ctx context.Context) bool {
	if err := d.run.Last.Settle(ctx); err != nil {
		d.judge.Find(d.name, finding.CheckRest, "%v", err)
		return false
	}
	return true
}

// object returns the stored target, nil if it does not exist.
func (d *disturbance) object(t story.Target) *unstructured.Unstructured {
	items, err := d.run.World.List(t.GVK)
	if err != nil || items[t.Key] == nil {
		return nil
	}
	return items[t.Key].DeepCopy()
}

// writes runs a pass of every owner and returns its changes: an event should have triggered them.
func (d *disturbance) writes(ctx context.Context) (writes []string, rested bool) {
	sent := len(d.run.Last.Wire.Calls())
	d.run.Last.Scheduler.WakeAll()
	if !d.settle(ctx) {
		return nil, false
	}
	return transport.ChangedBy(d.run.Last.Wire.Calls()[sent:]), true
}

// unwoken reports a finding if a pass for another reason still has something to do.
func (d *disturbance) unwoken(ctx context.Context, what string) bool {
	writes, rested := d.writes(ctx)
	if rested && len(writes) > 0 {
		d.judge.Find(d.name, finding.CheckWatch, "%s triggers no pass: only a pass for another reason sends %s",
			what, strings.Join(writes, ", "))
	}
	return len(writes) > 0 || !rested
}

// same compares the world with its previous state.
func (d *disturbance) same(before world.State) {
	got, err := d.run.World.State()
	if err != nil {
		d.judge.Find(d.name, finding.CheckRun, "%v", err)
		return
	}
	d.judge.Random.Mask(before)
	d.judge.Matches(d.name, before, got)
}

func (d *disturbance) state() world.State {
	state, err := d.run.World.State()
	if err != nil {
		d.judge.Find(d.name, finding.CheckRun, "%v", err)
	}
	return state
}
