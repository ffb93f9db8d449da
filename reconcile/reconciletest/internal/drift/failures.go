package drift

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// failing breaks the status of a ready child: its owner must not be ready until the child is ready again.
func (d *disturbance) failing(ctx context.Context, t baseline.Target) {
	u := d.object(t)
	ready, err := d.run.Cluster.Claims()
	if u == nil || err != nil || len(ready) == 0 || metav1.GetControllerOf(u) == nil || len(d.checker.System.StandIns) == 0 {
		return
	}
	before := d.state()
	if !breakStatus(u) {
		return
	}
	d.run.Cluster.Frozen = true
	if err := d.run.Cluster.Client.Status().Update(ctx, u); err != nil || !d.settle(ctx) {
		return
	}
	still, err := d.run.Cluster.Claims()
	if err == nil && slices.Equal(still, ready) && slices.Contains(cluster.Workloads(), t.GVK) {
		d.checker.Find(d.name, finding.CheckReady, "%s reports ready although %s is no longer ready", strings.Join(still, ", "), t)
	}
	d.run.Cluster.Frozen = false
	if d.settle(ctx) && !d.notTriggered(ctx, "the recovery of "+t.String()) {
		d.same(before)
	}
}

// breakStatus changes a status to a failure; it returns false if the status has nothing that could fail.
func breakStatus(u *unstructured.Unstructured) bool {
	status, _ := u.Object["status"].(map[string]any)
	broken := false
	for _, key := range []string{"readyReplicas", "availableReplicas", "numberReady", "numberAvailable"} {
		if n, ok := status[key].(int64); ok && n > 0 {
			status[key], broken = int64(0), true
		}
	}
	for _, condition := range objects.Maps(status, "conditions") {
		if kind := condition["type"]; (kind == "Ready" || kind == "Available") && condition["status"] == "True" {
			condition["status"], condition["reason"], broken = "False", "Broken", true
		}
	}
	return broken
}

// unread runs a pass of every owner in which a read fails: nothing is damaged, and the end state is the previous one.
func (d *disturbance) unread(ctx context.Context) {
	before := d.state()
	sent := len(d.run.Last.Wire.Calls())
	if _, steady := d.writes(ctx); !steady {
		return
	}
	part := &run.Run{Cluster: d.run.Cluster, Last: d.run.Last, Calls: d.run.Last.Wire.Calls()[sent:]}
	d.checker.CheckDamage(d.name, part)
	for object := range part.Deleted() {
		d.checker.Find(d.name, finding.CheckDamage, "deletes %s while a read fails", object)
	}
	d.same(before)
}
