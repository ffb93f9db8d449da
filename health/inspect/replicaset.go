package inspect

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// replicaSet inspects a ReplicaSet. It is ready if its controller has observed the spec and exactly the requested replicas exist and are
// available. Pods that cannot be created are reported with the reason. A ReplicaSet does not update replicas. Nil is a missing downstream
// dependency.
func replicaSet(r *appsv1.ReplicaSet) health.Component {
	if r == nil {
		return missing("ReplicaSetNotFound", "ReplicaSet")
	}
	if c, done := prelude("ReplicaSet", &r.ObjectMeta, r.Status.ObservedGeneration); done {
		return c
	}
	want, s := count(r.Spec.Replicas), r.Status
	for _, c := range s.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return refusedPods(whileServing(s.AvailableReplicas), c.Reason, c.Message)
		}
	}
	switch {
	case s.Replicas > want:
		return progressing("ScalingDown", fmt.Sprintf("%d replicas too many", s.Replicas-want))
	case s.AvailableReplicas < want:
		return progressing("ReplicasUnavailable", replicas(s.AvailableReplicas, want, "available"))
	case want == 0:
		return ready("ScaledToZero", "ReplicaSet is scaled to zero")
	}
	return ready("ReplicaSetReady", "ReplicaSet is available")
}

// whileServing returns the state of a workload whose pods cannot be created: Degraded while some serve.
func whileServing(available int32) health.State {
	if available > 0 {
		return health.Degraded
	}
	return health.Failed
}
