package inspect

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// statefulSet inspects a StatefulSet. It is ready if its controller has observed the spec, every replica is ready and available, and the
// rolling update has reached its replicas (those from the partition on). With the OnDelete strategy pods need not be updated. Nil is a
// missing downstream dependency. See https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies.
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

// updated returns the number of replicas with the new revision. For a set with one revision, the controller may count them only as
// current.
func updated(s *appsv1.StatefulSet) int32 {
	if s.Status.CurrentRevision == s.Status.UpdateRevision {
		return max(s.Status.UpdatedReplicas, s.Status.CurrentReplicas)
	}
	return s.Status.UpdatedReplicas
}

// toUpdate returns the number of replicas that the rollout will update. Equal revisions do not mean that the rollout is complete: a
// rollout that was reverted halfway leaves replicas of the intermediate revision. Without a revision no controller has counted.
func toUpdate(s *appsv1.StatefulSet, want int32) int32 {
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType || s.Status.UpdateRevision == "" {
		return 0
	}
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && r.Partition != nil {
		return max(want-*r.Partition, 0)
	}
	return want
}
