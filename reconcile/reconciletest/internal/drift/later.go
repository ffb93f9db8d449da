package drift

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// later advances the clock: if that causes writes, a pass must have been scheduled for them.
func (d *disturbance) later(ctx context.Context, by time.Duration) {
	d.run.Cluster.Clock.Set(d.run.Cluster.Clock.Now().Add(by))
	d.run.Last.Scheduler.MakeReady()
	sent := len(d.run.Last.Wire.Calls())
	if d.run.Last.After(ctx) != nil || !d.settle(ctx) || d.repeated(sent, by) {
		return
	}
	if writes, steady := d.writes(ctx); steady && len(writes) > 0 {
		d.checker.Find(d.name, finding.CheckTime, "after %s a pass for another reason sends %s: no pass was planned for that time",
			by, strings.Join(writes, ", "))
	}
}

// earlier sets the clock back, which may revert scheduled changes. The cluster must come to rest, and no completed Job may run again.
func (d *disturbance) earlier(ctx context.Context, by time.Duration) {
	d.run.Cluster.Clock.SetBack(by)
	d.run.Last.Scheduler.Shift(-by)
	sent := len(d.run.Last.Wire.Calls())
	d.run.Last.Scheduler.TriggerAll()
	if !d.settle(ctx) {
		return
	}
	d.doneAgain(sent, "the clock is set back by "+by.String()+" and %s, which was done, is recreated: it runs twice")
}

// repeated finds completed Jobs that were cleaned up after their TTL and are created again.
func (d *disturbance) repeated(sent int, by time.Duration) bool {
	return d.doneAgain(sent, by.String()+" later %s was done and is cleaned up (ttlSecondsAfterFinished), and is recreated: it runs twice; "+
		"run it once with the package runonce, or leave the field out")
}

// doneAgain finds Jobs that were created before the given request and are created again.
func (d *disturbance) doneAgain(sent int, message string) bool {
	done := map[string]bool{}
	for _, c := range d.run.Calls {
		done[objects.Name(c.GVK, c.Key)] = c.GVK.GroupKind() == schema.GroupKind{Group: "batch", Kind: "Job"}
	}
	for _, c := range d.run.Last.Wire.Calls()[sent:] {
		if c.Changed && c.Before == nil && done[objects.Name(c.GVK, c.Key)] {
			d.checker.Find(d.name, finding.CheckTime, message, objects.Name(c.GVK, c.Key))
			return true
		}
	}
	return false
}
