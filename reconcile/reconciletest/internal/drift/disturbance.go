package drift

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

const note = transport.Note

// disturbance is a cluster in steady state that others disturb.
type disturbance struct {
	checker *checker.Checker
	name    string
	run     *run.Run
}

// settle runs the operator and reports whether it has come to rest.
func (d *disturbance) settle(ctx context.Context) bool {
	if err := d.run.Last.Settle(ctx); err != nil {
		d.checker.Find(d.name, finding.CheckRest, "%v", err)
		return false
	}
	return true
}

// object returns the stored target, nil if it does not exist.
func (d *disturbance) object(t baseline.Target) *unstructured.Unstructured {
	items, err := d.run.Cluster.List(t.GVK)
	if err != nil || items[t.Key] == nil {
		return nil
	}
	return items[t.Key].DeepCopy()
}

// writes runs a pass of every owner and returns its changes: an event should have triggered them.
func (d *disturbance) writes(ctx context.Context) (writes []string, steady bool) {
	sent := len(d.run.Last.Wire.Calls())
	d.run.Last.Scheduler.TriggerAll()
	if !d.settle(ctx) {
		return nil, false
	}
	return transport.ChangedBy(d.run.Last.Wire.Calls()[sent:]), true
}

// notTriggered reports a finding if a pass for another reason still has something to do.
func (d *disturbance) notTriggered(ctx context.Context, what string) bool {
	writes, steady := d.writes(ctx)
	if steady && len(writes) > 0 {
		d.checker.Find(d.name, finding.CheckWatch, "%s triggers no pass: only a pass for another reason sends %s",
			what, strings.Join(writes, ", "))
	}
	return len(writes) > 0 || !steady
}

// same compares the cluster with its previous state.
func (d *disturbance) same(before cluster.State) {
	got, err := d.run.Cluster.State()
	if err != nil {
		d.checker.Find(d.name, finding.CheckRun, "%v", err)
		return
	}
	d.checker.Random.Mask(before)
	d.checker.Matches(d.name, before, got)
}

func (d *disturbance) state() cluster.State {
	state, err := d.run.Cluster.State()
	if err != nil {
		d.checker.Find(d.name, finding.CheckRun, "%v", err)
	}
	return state
}
