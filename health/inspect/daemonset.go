package inspect

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// daemonSet inspects a DaemonSet. It is ready when its controller has seen the spec and on every node that it is meant for an
// updated pod is available; with the OnDelete strategy no update is waited for. One that fits no node is ready. A nil
// one is missing downstream.
// See https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/.
func daemonSet(d *appsv1.DaemonSet) health.Component {
	if d == nil {
		return missing("DaemonSetNotFound", "DaemonSet")
	}
	if c, done := prelude("DaemonSet", &d.ObjectMeta, d.Status.ObservedGeneration); done {
		return c
	}
	want, s := d.Status.DesiredNumberScheduled, d.Status
	switch {
	case s.CurrentNumberScheduled < want:
		return progressing("ReplicasUnavailable", replicas(s.CurrentNumberScheduled, want, "scheduled"))
	case s.UpdatedNumberScheduled < want && d.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType:
		return progressing("RolloutInProgress", replicas(s.UpdatedNumberScheduled, want, "updated"))
	case s.NumberAvailable < want:
		return progressing("ReplicasUnavailable", replicas(s.NumberAvailable, want, "available"))
	case want == 0:
		return ready("NoNodeMatches", "DaemonSet fits no node")
	}
	return ready("DaemonSetReady", "DaemonSet is available")
}
