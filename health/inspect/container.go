package inspect

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// imagePullFailure finds the first container whose image cannot be pulled.
func imagePullFailure(pods []*corev1.Pod) (health.Component, bool) {
	for _, p := range pods {
		for _, s := range containerStatuses(p) {
			w := s.State.Waiting
			if w == nil {
				continue
			}
			message := "Container " + s.Name + ": " + w.Message
			switch w.Reason {
			case "ImagePullBackOff", "ErrImagePull":
				return pullFailure(message, w.Message), true
			case "InvalidImageName":
				return broken(health.InvalidSpec, "InvalidImageName", message), true
			}
		}
	}
	return health.Component{}, false
}

// pullFailure categorises a container runtime's message about a pull.
func pullFailure(message, text string) health.Component {
	switch classifyPull(text) {
	case logAuth:
		return broken(health.Auth, "ImagePullAuthFailure", message)
	case logNotFound:
		return broken(health.MissingUpstreamDependency, "ImageNotFound", message)
	case logUnknown, logInfrastructure, logStorageFull:
	}
	return broken(health.Infrastructure, "ImagePullBackOff", message)
}

// crashLoop finds the first container that keeps crashing. The message omits the restart count and the backoff, because they change
// constantly.
func crashLoop(pods []*corev1.Pod, facts PodFacts) (health.Component, bool) {
	for _, p := range pods {
		for _, s := range containerStatuses(p) {
			if !crashing(p, &s) {
				continue
			}
			message := "Container " + s.Name + " keeps crashing"
			last := s.LastTerminationState.Terminated
			if s.State.Terminated != nil {
				last = s.State.Terminated
			}
			if last != nil {
				message += ": " + terminationDetail(last)
			}
			message += excerpt(facts.Logs[p.Name])
			if last != nil && last.Reason == "OOMKilled" {
				return broken(health.ResourceExhaustion, "PodOOMKilled", message), true
			}
			if c, found := failureFromLog(facts.Logs[p.Name], message); found {
				return c, true
			}
			return health.Component{State: health.Degraded, Reason: "CrashLoopBackOff", Message: message}, true
		}
	}
	return health.Component{}, false
}

// crashing reports whether a container waits for a restart, or has just crashed and will be restarted.
func crashing(p *corev1.Pod, s *corev1.ContainerStatus) bool {
	if w := s.State.Waiting; w != nil {
		return w.Reason == "CrashLoopBackOff"
	}
	t := s.State.Terminated
	return t != nil && t.ExitCode != 0 && s.RestartCount > 0 && p.Status.Phase == corev1.PodRunning &&
		p.Spec.RestartPolicy != corev1.RestartPolicyNever
}

// terminationDetail describes the termination of a container.
func terminationDetail(t *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("exit code %d", t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" {
		text += " (" + t.Reason + ")"
	}
	if t.Message != "" {
		text += ": " + t.Message
	}
	return text
}

// failedPod categorises a pod in phase Failed.
func failedPod(p *corev1.Pod, facts PodFacts) health.Component {
	reason, message, logged := failure(p)
	log := ""
	if logged {
		log = facts.Logs[p.Name]
	}
	message += excerpt(log)
	if c, found := failureFromLog(log, message); found {
		return c
	}
	switch reason {
	case "OOMKilled":
		return broken(health.ResourceExhaustion, "PodOOMKilled", message)
	case "DeadlineExceeded":
		return broken(health.InvalidSpec, "PodDeadlineExceeded", message)
	case "Evicted":
		return broken(health.Infrastructure, "PodEvicted", message)
	case "NodeLost", "NodeShutdown", "NodeAffinity", "Terminated", "Preempting", "UnexpectedAdmissionError":
		// The kubelet or a controller ended the pod: https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/.
		return broken(health.Infrastructure, "PodInterrupted", message)
	}
	return broken(health.InvalidSpec, "PodFailed", message)
}

// failure reports why a pod failed, and whether a log may explain it: the reason of the pod, else that of the first terminated container,
// else that of the first init container.
func failure(p *corev1.Pod) (reason, message string, logged bool) {
	const fallback = "Pod failed"
	if p.Status.Reason != "" {
		message = p.Status.Message
		if message == "" {
			message = fallback
		}
		return p.Status.Reason, message, false
	}
	if t, name := ended(p.Status.ContainerStatuses); t != nil {
		return t.Reason, ending("Container "+name, t), t.ExitCode != 0 && t.Reason != "OOMKilled"
	}
	if t, name := ended(p.Status.InitContainerStatuses); t != nil {
		return t.Reason, ending("Init container "+name, t), t.ExitCode != 0 && t.Reason != "OOMKilled"
	}
	if p.Status.Message != "" {
		return "", p.Status.Message, false
	}
	return "", fallback, false
}

// ended returns the first container that terminated with an error, else the first that terminated.
func ended(statuses []corev1.ContainerStatus) (*corev1.ContainerStateTerminated, string) {
	var first *corev1.ContainerStateTerminated
	name := ""
	for i := range statuses {
		t := statuses[i].State.Terminated
		if t == nil {
			continue
		}
		if t.ExitCode != 0 {
			return t, statuses[i].Name
		}
		if first == nil {
			first, name = t, statuses[i].Name
		}
	}
	return first, name
}

// ending describes the termination of a container.
func ending(container string, t *corev1.ContainerStateTerminated) string {
	switch {
	case t.ExitCode != 0 && t.Message != "":
		return fmt.Sprintf("%s failed with exit code %d: %s", container, t.ExitCode, t.Message)
	case t.ExitCode != 0:
		return fmt.Sprintf("%s failed with exit code %d", container, t.ExitCode)
	case t.Message != "":
		return t.Message
	case t.Reason != "":
		return container + " terminated with reason: " + t.Reason
	}
	return "Pod failed"
}
