package inspect

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// deployment inspects a Deployment. It is ready when its controller has seen the spec and every replica is updated and available
// and no older one is left; a passed progress deadline is Degraded while something still serves, else Failed; pods
// that cannot be created are reported with the reason. A nil one is missing downstream.
// See https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status.
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
		return health.Component{State: health.Pending, Reason: "DeploymentPaused", Message: "Deployment is paused in the middle of a rollout"}
	case s.UpdatedReplicas < want:
		return progressing(rolling, replicas(s.UpdatedReplicas, want, "updated"))
	case s.Replicas > s.UpdatedReplicas, s.Replicas > want:
		return progressing(rolling, "Waiting for old replicas to go")
	case s.AvailableReplicas < want:
		return progressing("ReplicasUnavailable", replicas(s.AvailableReplicas, want, "available"))
	case want == 0:
		return ready("ScaledToZero", "Deployment is scaled to zero")
	}
	return ready("DeploymentReady", "Deployment is available")
}

// stuckDeployment reads the conditions of a rollout that does not progress.
func stuckDeployment(d *appsv1.Deployment) (health.Component, bool) {
	var failure, progress *appsv1.DeploymentCondition
	for i := range d.Status.Conditions {
		switch c := &d.Status.Conditions[i]; c.Type {
		case appsv1.DeploymentReplicaFailure:
			failure = c
		case appsv1.DeploymentProgressing:
			progress = c
		case appsv1.DeploymentAvailable:
			// The counters say more.
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

// refusedPods is a controller that is not allowed to create pods.
func refusedPods(state health.State, reason, message string) health.Component {
	if strings.Contains(message, "exceeded quota") {
		c := broken(health.ResourceExhaustion, "QuotaExceeded", message)
		c.State = state
		return c
	}
	return health.Component{State: state, Reason: reason, Message: message}
}
