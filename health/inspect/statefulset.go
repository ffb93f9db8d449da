package inspect

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// statefulSet inspects a StatefulSet. It is ready when its controller has seen the spec, every replica is ready and available, and
// the rolling update has reached the replicas that it is meant for (those from the partition on); with the
// OnDelete strategy no update is waited for. A nil one is missing downstream.
// See https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies.
func statefulSet(s *appsv1.StatefulSet) health.Component {
	if s == nil {
		return missing("StatefulSetNotFound", "StatefulSet")
	}
	if c, done := prelude("StatefulSet", &s.ObjectMeta, s.Status.ObservedGeneration); done {
		return c
	}
	want, have := count(s.Spec.Replicas), s.Status
	switch {
	case have.Replicas > want:
		return progressing("ScalingDown", fmt.Sprintf("%d replicas too many", have.Replicas-want))
	case have.ReadyReplicas < want:
		return progressing("ReplicasUnavailable", replicas(have.ReadyReplicas, want, "ready"))
	case updated(s) < toUpdate(s, want):
		return progressing("RolloutInProgress", replicas(updated(s), toUpdate(s, want), "updated"))
	case have.AvailableReplicas < want && s.Spec.MinReadySeconds > 0:
		return progressing("ReplicasUnavailable", replicas(have.AvailableReplicas, want, "available"))
	case want == 0:
		return ready("ScaledToZero", "StatefulSet is scaled to zero")
	}
	return ready("StatefulSetReady", "StatefulSet is available")
}

// updated is how many replicas have the new revision. A controller may count those of a set with one revision as the current ones alone.
func updated(s *appsv1.StatefulSet) int32 {
	if s.Status.CurrentRevision == s.Status.UpdateRevision {
		return max(s.Status.UpdatedReplicas, s.Status.CurrentReplicas)
	}
	return s.Status.UpdatedReplicas
}

// toUpdate is how many replicas a rollout will bring to the new revision by itself. Equal revisions do not mean that there is nothing to do:
// a rollout that was taken back half way leaves replicas of the revision between. Without a revision no controller has counted.
func toUpdate(s *appsv1.StatefulSet, want int32) int32 {
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType || s.Status.UpdateRevision == "" {
		return 0
	}
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
		return max(want-*r.Partition, 0)
	}
	return want
}
