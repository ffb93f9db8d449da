package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Run judges pods that are made to run to an end, such as those of a Job. The zero value is fine.
type Run struct {
	// Containers are the names of those that count, init containers among them, in the order in which they are asked; the others may end as
	// they like. Empty is all init containers, then all others.
	Containers []string
	// Stuck reports whether a container that waits for the reason will not start by itself. Nil is [Stuck].
	Stuck func(reason string) bool
	// Failed reports whether a container has ended badly. Nil is with an exit code other than zero, or a reason other than Completed.
	Failed func(container string, end *corev1.ContainerStateTerminated) bool
	// Unschedulable is how long no node may fit before that is a failure. Zero and less is for ever.
	Unschedulable time.Duration
}

// Outcome is how far a pod has come.
type Outcome struct {
	// Phase is Pending, Running, Succeeded or Failed. It is that of the containers that count: a pod may be Running for the API server whose
	// main container has ended, and Pending while an init container can never start.
	Phase corev1.PodPhase
	// Container is the name of the container that has failed, empty where it is the whole pod, or nothing.
	Container string
	// Reason is why it has failed, as the API server has it, such as ImagePullBackOff, OOMKilled, Evicted or Unschedulable; empty where
	// nobody said.
	Reason string
	// Message is more text from the same place. It may be empty.
	Message string
	// Ended is how the container ended that has failed, nil where it waits, or the whole pod has failed.
	Ended *corev1.ContainerStateTerminated
	// Again is after which time another look is due because a time runs out that no event tells. Zero is none.
	Again time.Duration
}

// Why is the reason of a failure in one word or a few, never empty.
func (o Outcome) Why() string {
	if o.Ended != nil && o.Reason == "" {
		return "exit code " + strconv.Itoa(int(o.Ended.ExitCode))
	}
	return cmp.Or(o.Reason, o.Message, "the pod has failed")
}

// Stuck reports whether a container that waits for the reason will not start by itself: every reason but that it is being made. See
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-state-waiting.
func Stuck(reason string) bool {
	return reason != "" && reason != "PodInitializing" && reason != "ContainerCreating"
}

// Of returns how far the pod has come. First match wins: no node fits for too long; the first container that counts is stuck or has failed; the pod
// has failed as a whole; all that count have ended; one runs. What an init container does is Pending until it has failed. How a sidecar ends (an
// init container that restarts always) says nothing, nor does the end of a container that the kubelet starts again, unless Failed says so.
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

// unschedulable is since when no node fits, the zero time where one does.
func unschedulable(pod *corev1.Pod) (since time.Time, message string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable &&
			pod.Status.Phase == corev1.PodPending {
			return c.LastTransitionTime.Time, c.Message
		}
	}
	return time.Time{}, ""
}

// counted are the statuses of the containers that count, in their order.
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

// failure is that of one container, if it has one.
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

// sidecar reports whether a container is an init container that restarts always.
func sidecar(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == container && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// restarts reports whether the kubelet starts a container again that has ended so.
func restarts(pod *corev1.Pod, end *corev1.ContainerStateTerminated) bool {
	switch {
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return false
	case pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		return end.ExitCode != 0
	}
	return pod.Spec.RestartPolicy == corev1.RestartPolicyAlways
}
