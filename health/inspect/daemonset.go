package inspect

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// daemonSet inspects a DaemonSet. It is ready if its controller has observed the spec and an updated pod is available on every matching
// node. With the OnDelete strategy pods need not be updated. A DaemonSet without matching nodes is ready. Nil is a missing downstream
// dependency. See https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/.
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
		return ready("NoNodeMatches", "DaemonSet matches no node")
	}
	return ready("DaemonSetReady", "DaemonSet is available")
}
