package inspect

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// replicaSet inspects a ReplicaSet. It is ready when its controller has seen the spec and has made exactly the replicas that it asks for,
// all of them available; pods that cannot be created are reported with the reason. It updates no replica. A nil one is missing downstream.
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

// whileServing is the state of a workload that does not get its pods: Degraded while some serve.
func whileServing(available int32) health.State {
	if available > 0 {
		return health.Degraded
	}
	return health.Failed
}
