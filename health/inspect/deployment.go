package inspect

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// deployment inspects a Deployment. It is ready if its controller has observed the spec, every replica is updated and available, and no
// older replica is left. An exceeded progress deadline is Degraded while a replica serves, else Failed. Pods that cannot be created are
// reported with the reason. Nil is a missing downstream dependency. See
// https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status.
func deployment(d *appsv1.Deployment) health.Component {
	if d == nil {
		return missing("DeploymentNotFound", "Deployment")
	}
	if c, done := prelude("Deployment", &d.ObjectMeta, d.Status.ObservedGeneration); done {
		return c
	}
	if c, done := stuckDeployment(d); done {
		return c
	}
	want, s := count(d.Spec.Replicas), d.Status
	const rolling = "RolloutInProgress"
	switch {
	case d.Spec.Paused && (s.UpdatedReplicas < want || s.Replicas > s.UpdatedReplicas):
		return health.Component{State: health.Pending, Reason: "DeploymentPaused", Message: "Deployment is paused during a rollout"}
	case s.UpdatedReplicas < want:
		return progressing(rolling, replicas(s.UpdatedReplicas, want, "updated"))
	case s.Replicas > s.UpdatedReplicas, s.Replicas > want:
		return progressing(rolling, "Waiting for old replicas to terminate")
	case s.AvailableReplicas < want:
		return progressing("ReplicasUnavailable", replicas(s.AvailableReplicas, want, "available"))
	case want == 0:
		return ready("ScaledToZero", "Deployment is scaled to zero")
	}
	return ready("DeploymentReady", "Deployment is available")
}

// stuckDeployment reports the conditions of a stalled rollout.
func stuckDeployment(d *appsv1.Deployment) (health.Component, bool) {
	var failure, progress *appsv1.DeploymentCondition
	for i := range d.Status.Conditions {
		switch c := &d.Status.Conditions[i]; c.Type {
		case appsv1.DeploymentReplicaFailure:
			failure = c
		case appsv1.DeploymentProgressing:
			progress = c
		case appsv1.DeploymentAvailable:
			// The replica counts are more specific.
		}
	}
	state := whileServing(d.Status.AvailableReplicas)
	if failure != nil && failure.Status == corev1.ConditionTrue {
		return refusedPods(state, failure.Reason, failure.Message), true
	}
	if progress != nil && progress.Status == corev1.ConditionFalse && progress.Reason == "ProgressDeadlineExceeded" {
		return health.Component{State: state, Reason: progress.Reason, Message: progress.Message}, true
	}
	return health.Component{}, false
}

// refusedPods reports a controller that is not allowed to create pods.
func refusedPods(state health.State, reason, message string) health.Component {
	if strings.Contains(message, "exceeded quota") {
		c := broken(health.ResourceExhaustion, "QuotaExceeded", message)
		c.State = state
		return c
	}
	return health.Component{State: state, Reason: reason, Message: message}
}
