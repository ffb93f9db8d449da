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
	reasonAvailable   = "DeploymentAvailable"   // all gates are open
	reasonUnavailable = "DeploymentUnavailable" // the Deployment or its Service does not exist or does not serve
	reasonCooldown    = "DeploymentCooldown"    // it has not served long enough yet
)

// Availability checks whether a Deployment behind a Service serves requests. Unlike [Of] it does not require a complete rollout: missing
// replicas do not matter if one serves.
type Availability struct {
	// Deployment is the workload; nil if it does not exist yet.
	Deployment *appsv1.Deployment
	// Pods of the workload. They only explain why it is not available.
	Pods []corev1.Pod
	// Endpoints is the number of ready addresses of the Service; EndpointsErr reports why it is unknown.
	Endpoints    int
	EndpointsErr error
	// MinAge is the minimum time since the Deployment's condition Available became True. 0 disables the check.
	MinAge time.Duration
	// Now is the time of the reconciliation.
	Now time.Time
}

// Component returns the first closed gate, in the order Deployment, endpoints, age, with the reason "DeploymentUnavailable", or
// "DeploymentCooldown" for the age. It is Ready with the reason "DeploymentAvailable" if all gates are open. delay is the time until the
// age gate opens; 0 if there is no need to wait.
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

// conditions returns the Deployment's condition Available if it is true, else nil and the reason.
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

// podsFailure describes in one line why the first failing pod, by name, is not ready: its waiting or terminated containers by name, else
// its condition Ready. It is empty if no pod has a reason.
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
