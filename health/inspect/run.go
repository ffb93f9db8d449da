package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Run assesses pods that run to completion, such as those of a Job. The zero value is useful.
type Run struct {
	// Containers are the names of the relevant containers, also init containers, in the order in which they are checked. Default: all init
	// containers, then all others.
	Containers []string
	// Stuck reports whether a container that waits for the reason cannot start without a change. Default: [Stuck].
	Stuck func(reason string) bool
	// Failed reports whether a container has failed. Default: an exit code other than zero, or a reason other than Completed.
	Failed func(container string, end *corev1.ContainerStateTerminated) bool
	// Unschedulable is how long a pod may be unschedulable before that is a failure. Zero and less disable the limit.
	Unschedulable time.Duration
}

// Outcome is the progress of a pod.
type Outcome struct {
	// Phase is Pending, Running, Succeeded or Failed, by the relevant containers: the API server may report Running for a pod whose main
	// container has terminated, and Pending for one whose init container can never start.
	Phase corev1.PodPhase
	// Container is the name of the failed container; empty if the pod failed, or nothing did.
	Container string
	// Reason of the failure as reported by the API server, such as ImagePullBackOff, OOMKilled, Evicted or Unschedulable; may be empty.
	Reason string
	// Message of the failure; may be empty.
	Message string
	// Ended is the state of the failed container; nil if it waits, or if the pod failed.
	Ended *corev1.ContainerStateTerminated
	// Again is the delay after which to check again, because a timeout produces no event. Zero means none.
	Again time.Duration
}

// Why returns the reason of a failure in a few words, never empty.
func (o Outcome) Why() string {
	if o.Ended != nil && o.Reason == "" {
		return "exit code " + strconv.Itoa(int(o.Ended.ExitCode))
	}
	return cmp.Or(o.Reason, o.Message, "pod failed")
}

// Stuck reports whether a container that waits for the reason cannot start without a change: true for every reason except container
// creation. See https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-state-waiting.
func Stuck(reason string) bool {
	return reason != "" && reason != "PodInitializing" && reason != "ContainerCreating"
}

// Of returns the progress of the pod. The first match wins: the pod is unschedulable for too long; a relevant container is stuck or has
// failed; the pod has failed; all relevant containers have terminated; one runs. The pod is Pending during an init container, until that
// fails. The termination of a sidecar (an init container that restarts always) is ignored, and so is that of a container that the kubelet
// restarts, unless Failed reports it.
func (r Run) Of(pod *corev1.Pod, now time.Time) Outcome {
	out := Outcome{Phase: corev1.PodPending}
	if since, message := unschedulable(pod); !since.IsZero() && r.Unschedulable > 0 {
		if out.Again = max(0, since.Add(r.Unschedulable).Sub(now)); out.Again == 0 {
			return Outcome{Phase: corev1.PodFailed, Reason: corev1.PodReasonUnschedulable, Message: message}
		}
	}
	for _, c := range r.counted(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)) {
		if failure, failed := r.failure(pod, c); failed {
			return failure
		}
	}
	running, ended := 0, 0
	mains := r.counted(slices.Clone(pod.Status.ContainerStatuses))
	for _, c := range mains {
		if c.State.Running != nil {
			running++
		}
		if end := c.State.Terminated; end != nil && !restarts(pod, end) {
			ended++
		}
	}
	switch {
	case pod.Status.Phase == corev1.PodFailed:
		return Outcome{Phase: corev1.PodFailed, Reason: pod.Status.Reason, Message: pod.Status.Message}
	case pod.Status.Phase == corev1.PodSucceeded, ended > 0 && ended == len(mains):
		out.Phase = corev1.PodSucceeded
	case running > 0:
		out.Phase = corev1.PodRunning
	}
	return out
}

// unschedulable returns the time since which the pod is unschedulable, zero if it is not.
func unschedulable(pod *corev1.Pod) (since time.Time, message string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable &&
			pod.Status.Phase == corev1.PodPending {
			return c.LastTransitionTime.Time, c.Message
		}
	}
	return time.Time{}, ""
}

// counted returns the statuses of the relevant containers, in their order.
func (r Run) counted(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	if len(r.Containers) == 0 {
		return statuses
	}
	statuses = slices.DeleteFunc(statuses, func(c corev1.ContainerStatus) bool { return !slices.Contains(r.Containers, c.Name) })
	slices.SortStableFunc(statuses, func(a, b corev1.ContainerStatus) int {
		return cmp.Compare(slices.Index(r.Containers, a.Name), slices.Index(r.Containers, b.Name))
	})
	return statuses
}

// failure returns the failure of one container, if it has one.
func (r Run) failure(pod *corev1.Pod, c corev1.ContainerStatus) (Outcome, bool) {
	stuck := Stuck
	if r.Stuck != nil {
		stuck = r.Stuck
	}
	if w := c.State.Waiting; w != nil && stuck(w.Reason) {
		return Outcome{Phase: corev1.PodFailed, Container: c.Name, Reason: w.Reason, Message: w.Message}, true
	}
	end := c.State.Terminated
	if end == nil || r.Failed == nil && (sidecar(pod, c.Name) || restarts(pod, end)) {
		return Outcome{}, false
	}
	failed := end.ExitCode != 0 || end.Reason != "" && end.Reason != "Completed"
	if r.Failed != nil {
		failed = r.Failed(c.Name, end)
	}
	return Outcome{Phase: corev1.PodFailed, Container: c.Name, Reason: end.Reason, Message: end.Message, Ended: end}, failed
}

// sidecar reports whether a container is an init container with restart policy Always.
func sidecar(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == container && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// restarts reports whether the kubelet restarts a container after this termination.
func restarts(pod *corev1.Pod, end *corev1.ContainerStateTerminated) bool {
	switch {
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return false
	case pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		return end.ExitCode != 0
	}
	return pod.Spec.RestartPolicy == corev1.RestartPolicyAlways
}
