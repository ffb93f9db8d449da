package inspect

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// PodFacts is additional input of [Pods]. The zero value is useful.
type PodFacts struct {
	// Logs maps pod names to the last log lines of a failed or crashing container. They refine the category of the failure; the message
	// includes one matching line.
	Logs map[string]string
	// Events about the pods explain why a pending pod waits; events about other objects are ignored.
	Events []corev1.Event
}

// Pods inspects the pods of one component. The order of the list does not matter; a result about one pod is about the first by name. Pods
// that are being deleted count only if there are no others. The first match wins:
//
//  1. no pods: a missing downstream dependency;
//  2. an image that cannot be pulled, by the registry's text: Auth, a missing upstream dependency (no such image), else Infrastructure;
//     an invalid image name: InvalidSpec;
//  3. a container in CrashLoopBackOff: Degraded, or Failed with the category of the last failure if it is known;
//  4. all pods failed: by the reason of the failure, or by a more specific line of the logs. A failed pod is ignored if another pod is
//     alive;
//  5. only pods that are being deleted: Progressing;
//  6. one pod that is ready or has succeeded: Ready;
//  7. a running pod: Starting;
//  8. a pending pod: Pending with the reason why it waits, or Progressing while an image is being pulled.
func Pods(pods []corev1.Pod, facts PodFacts) health.Component {
	if len(pods) == 0 {
		return broken(health.MissingDownstreamDependency, "NoPods", "No pods found")
	}
	list := countedPods(pods)
	if c, found := imagePullFailure(list); found {
		return c
	}
	if c, found := crashLoop(list, facts); found {
		return c
	}
	alive := slices.DeleteFunc(slices.Clone(list), func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if len(alive) == 0 {
		return failedPod(list[0], facts)
	}
	if alive[0].DeletionTimestamp != nil { // then all of them are being deleted
		return progressing("Terminating", "Pods are being deleted")
	}
	return livePods(alive, facts)
}

// countedPods returns the relevant pods, by name.
func countedPods(pods []corev1.Pod) []*corev1.Pod {
	list := make([]*corev1.Pod, 0, len(pods))
	for i := range pods {
		if pods[i].DeletionTimestamp == nil {
			list = append(list, &pods[i])
		}
	}
	if len(list) == 0 {
		for i := range pods {
			list = append(list, &pods[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *corev1.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return list
}

// livePods inspects pods that have not failed.
func livePods(pods []*corev1.Pod, facts PodFacts) health.Component {
	var running, pending *corev1.Pod
	for _, p := range pods {
		switch p.Status.Phase {
		case corev1.PodSucceeded:
			return ready("PodsReady", "Pods are ready")
		case corev1.PodRunning:
			if podReady(p) {
				return ready("PodsReady", "Pods are ready")
			}
			running = cmp.Or(running, p)
		case corev1.PodPending:
			pending = cmp.Or(pending, p)
		case corev1.PodFailed, corev1.PodUnknown:
			// Failed pods were removed; an unknown phase has no meaning.
		}
	}
	switch {
	case running != nil:
		return health.Component{State: health.Starting, Reason: "PodsStarting", Message: "Pods are running, waiting for readiness"}
	case pending != nil:
		return pendingPods(pods, facts.Events)
	}
	return progressing("PodsProgressing", "Pods are progressing")
}

func podReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// pendingPods reports why pending pods wait: the latest relevant event, else the conditions of the pods.
func pendingPods(pods []*corev1.Pod, events []corev1.Event) health.Component {
	c := health.Component{State: health.Pending, Reason: "PodsPending", Message: "Pods are pending"}
	if e := latestEvent(pods, events, waitingEvent); e != nil {
		c.Reason, c.Message = e.Reason, e.Message
		return c
	}
	for _, p := range pods {
		if p.Status.Phase != corev1.PodPending {
			continue
		}
		if reason, message := waitingFor(p); reason != "" {
			c.Reason, c.Message = reason, message
			return c
		}
	}
	if e := latestEvent(pods, events, func(reason string) bool { return reason == "Pulling" }); e != nil {
		return progressing(e.Reason, e.Message)
	}
	return c
}

// waitingEvent reports whether events of this reason explain why a pod does not start.
func waitingEvent(reason string) bool {
	switch reason {
	case "FailedScheduling", "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox":
		return true
	}
	return false
}

// waitingFor returns the reason why a pod is pending: it is unschedulable, or a container cannot be created.
func waitingFor(p *corev1.Pod) (reason, message string) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			return "FailedScheduling", c.Message
		}
	}
	for _, s := range containerStatuses(p) {
		if w := s.State.Waiting; w != nil && (w.Reason == "CreateContainerConfigError" || w.Reason == "CreateContainerError") {
			return w.Reason, "Container " + s.Name + ": " + w.Message
		}
	}
	return "", ""
}

// latestEvent returns the latest event about pending pods with a wanted reason; of equal times the later in the list.
func latestEvent(pods []*corev1.Pod, events []corev1.Event, wanted func(reason string) bool) *corev1.Event {
	var latest *corev1.Event
	for i := range events {
		e := &events[i]
		about := slices.ContainsFunc(pods, func(p *corev1.Pod) bool {
			return p.Status.Phase == corev1.PodPending && e.InvolvedObject.Name == p.Name &&
				(e.InvolvedObject.UID == "" || e.InvolvedObject.UID == p.UID)
		})
		if !about || !wanted(e.Reason) || (latest != nil && eventTime(e) < eventTime(latest)) {
			continue
		}
		latest = e
	}
	return latest
}

// eventTime returns the last time of an event: lastTimestamp, or eventTime for the newer API.
func eventTime(e *corev1.Event) int64 {
	if e.LastTimestamp.IsZero() {
		return e.EventTime.UnixMicro()
	}
	return e.LastTimestamp.UnixMicro()
}

// containerStatuses lists the statuses of containers, then of init containers.
func containerStatuses(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses)
}
