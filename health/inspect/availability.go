package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

const (
	reasonAvailable   = "DeploymentAvailable"   // all gates are passed
	reasonUnavailable = "DeploymentUnavailable" // the Deployment, or what stands before it, does not exist or does not serve
	reasonCooldown    = "DeploymentCooldown"    // it serves, but not for long enough yet
)

// Availability are the gates that a Deployment behind a Service has to pass before it counts as serving. Unlike [Of] it
// asks whether requests can be answered, not whether a rollout is complete: replicas that are missing beside one that serves do
// not matter.
type Availability struct {
	// Deployment is the workload; nil is one that does not exist yet.
	Deployment *appsv1.Deployment
	// Pods are those of the workload. They only explain why it is not available.
	Pods []corev1.Pod
	// Endpoints is how many ready addresses the Service has, and EndpointsErr why that is not known.
	Endpoints    int
	EndpointsErr error
	// MinAge is how long the Deployment's condition Available must have been True. Zero asks for nothing.
	MinAge time.Duration
	// Now is the time of the pass.
	Now time.Time
}

// Component returns the first gate that is closed, in the order Deployment, endpoints, age, with the reason "DeploymentUnavailable", or
// "DeploymentCooldown" for the age; Ready with the reason "DeploymentAvailable" when none is. The delay is when the
// gate of the age opens by itself; zero when there is nothing to wait for.
func (a Availability) Component() (c health.Component, delay time.Duration) {
	if a.Deployment == nil {
		return missing(reasonUnavailable, "Deployment"), 0
	}
	available, message := a.conditions()
	unavailable := func(message string) health.Component {
		return health.Component{State: health.NotAvailable, Reason: reasonUnavailable, Message: message}
	}
	switch {
	case available == nil:
		if n := a.Deployment.Status.UnavailableReplicas; n > 0 {
			if message = podsFailure(a.Pods); message == "" {
				message = fmt.Sprintf("%d containers unavailable", n)
			}
		}
		return unavailable("Deployment is unavailable: " + message), 0
	case a.EndpointsErr != nil:
		return unavailable("Service endpoints not found: " + a.EndpointsErr.Error()), 0
	case a.Endpoints == 0:
		return unavailable("Service endpoints not ready - no ready addresses available"), 0
	}
	if rest := a.MinAge - a.Now.Sub(available.LastTransitionTime.Time); rest > 0 {
		return health.Component{State: health.Starting, Reason: reasonCooldown, Message: "Deployment only recently available"}, rest
	}
	return ready(reasonAvailable, "Deployment is available"), 0
}

// conditions returns the condition Available of the Deployment if it is true, or nil and why it is not.
func (a Availability) conditions() (available *appsv1.DeploymentCondition, message string) {
	if a.Deployment.DeletionTimestamp != nil {
		return nil, "it is being deleted"
	}
	found := map[appsv1.DeploymentConditionType]*appsv1.DeploymentCondition{}
	for i := range a.Deployment.Status.Conditions {
		found[a.Deployment.Status.Conditions[i].Type] = &a.Deployment.Status.Conditions[i]
	}
	if c := found[appsv1.DeploymentReplicaFailure]; c != nil && c.Status == corev1.ConditionTrue {
		return nil, c.Message
	}
	if c := found[appsv1.DeploymentProgressing]; c != nil && c.Status == corev1.ConditionFalse {
		return nil, c.Message
	}
	c := found[appsv1.DeploymentAvailable]
	if c == nil {
		return nil, ""
	}
	if c.Status != corev1.ConditionTrue {
		return nil, c.Message
	}
	return c, ""
}

// podsFailure returns in one line what keeps the first pod that fails, by name, from being ready: its unready containers
// that wait or have ended, by name, else its condition Ready. It is empty when no pod says anything.
func podsFailure(pods []corev1.Pod) string {
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	for i := range sorted {
		if failure := podFailure(&sorted[i]); failure != "" {
			return "pod " + sorted[i].Name + " " + failure
		}
	}
	return ""
}

func podFailure(pod *corev1.Pod) string {
	var unready []string
	for _, status := range pod.Status.ContainerStatuses {
		word, reason, message := "", "", ""
		switch {
		case status.Ready:
		case status.State.Waiting != nil:
			word, reason, message = "waiting", status.State.Waiting.Reason, status.State.Waiting.Message
		case status.State.Terminated != nil:
			word, reason, message = "terminated", status.State.Terminated.Reason, status.State.Terminated.Message
		}
		if word != "" {
			unready = append(unready, fmt.Sprintf("%s: {%s: {reason: %s, message: %s}}", status.Name, word, reason, message))
		}
	}
	if len(unready) > 0 {
		slices.Sort(unready)
		return "has unready containers [" + strings.Join(unready, ", ") + "]"
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("containers not ready: {reason: %s, message: %s}", c.Reason, c.Message)
		}
	}
	return ""
}
