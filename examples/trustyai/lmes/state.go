package lmes

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
)

// generation is the annotation of a job with the generation of the spec that was scheduled last, or found invalid, and of a pod with the
// one that it was made for.
const generation = guardrails.Domain + "last-scheduled-generation"

// position is where the stored status has a job.
type position int

const (
	unrecorded  position = iota // the annotation does not have this generation yet
	unscheduled                 // no pod was made for this generation
	scheduled
	cancelled // somebody asks for it to end
	complete
	changed // the spec has changed since the pod was made
	positions
)

// sight is what is seen of the pod.
type sight int

const (
	absent   sight = iota
	foreign        // somebody else's
	leaving        // it is being deleted
	outdated       // it was made for an earlier generation
	waiting
	running
	succeeded
	failed
	sights
)

// action is what a pass does.
type action int

const (
	none    action = iota // of transitions that were forgotten
	record                // store which generation it is, so that no second pod is made of it
	create                // make the pod, or take up the one of this generation
	collide               // the job fails, as its pod cannot be made
	discard               // delete the pod, to make another one
	restart               // start over with the changed spec
	await                 // leave the pod as it is
	follow                // the pod runs
	succeed
	fail
	miss // the job fails, as its pod is gone
	cancel
	rest
)

// transitions are the actions by the position of a job and the sight of its pod.
var transitions = [positions][sights]action{
	unrecorded: {
		absent: record, foreign: record, leaving: record, outdated: record, waiting: record, running: record, succeeded: record, failed: record,
	},
	unscheduled: {
		absent: create, foreign: collide, leaving: await, outdated: discard, waiting: create, running: create, succeeded: create, failed: create,
	},
	scheduled: {
		absent: miss, foreign: miss, leaving: await, outdated: restart, waiting: await, running: follow, succeeded: succeed, failed: fail,
	},
	cancelled: {
		absent: miss, foreign: miss, leaving: cancel, outdated: cancel, waiting: cancel, running: cancel, succeeded: cancel, failed: cancel,
	},
	complete: {absent: rest, foreign: rest, leaving: rest, outdated: rest, waiting: rest, running: rest, succeeded: rest, failed: rest},
	changed: {
		absent: restart, foreign: restart, leaving: restart, outdated: restart, waiting: restart, running: restart, succeeded: restart, failed: restart,
	},
}

// positionOf reads the stored status. Without any time in it nothing was scheduled.
func positionOf(job *v1alpha1.LMEvalJob) position {
	last := generationOf(job)
	if job.Status.LastScheduleTime != nil || job.Status.CompleteTime != nil {
		switch job.Status.State {
		case v1alpha1.JobCancelled:
			return cancelled
		case v1alpha1.JobScheduled, v1alpha1.JobRunning, v1alpha1.JobComplete:
			switch {
			case last > 0 && last != job.Generation:
				return changed
			case job.Status.State == v1alpha1.JobComplete:
				return complete
			}
			return scheduled
		case v1alpha1.JobNew, v1alpha1.JobSuspended:
		}
	}
	if last != job.Generation {
		return unrecorded
	}
	return unscheduled
}

// generationOf reads the annotation, zero for none.
func generationOf(object metav1.Object) int64 {
	last, err := strconv.ParseInt(object.GetAnnotations()[generation], 10, 64)
	if err != nil {
		return 0
	}
	return last
}

// look is what is seen of the pod of a job, and why it has ended.
func look(job *v1alpha1.LMEvalJob, pod *corev1.Pod) (sight, string) {
	switch {
	case pod == nil:
		return absent, ""
	case !metav1.IsControlledBy(pod, job):
		return foreign, ""
	case pod.DeletionTimestamp != nil:
		return leaving, ""
	case generationOf(pod) != job.Generation:
		return outdated, ""
	}
	for _, status := range pod.Status.InitContainerStatuses {
		if problem := trouble(status.State); problem != "" {
			return failed, problem
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != mainContainer {
			continue
		}
		problem := trouble(status.State)
		switch {
		case problem != "":
			return failed, problem
		case status.State.Terminated != nil:
			return succeeded, ""
		case pod.Status.Phase != corev1.PodFailed && status.State.Running != nil:
			return running, ""
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return failed, cmp.Or(pod.Status.Reason, pod.Status.Message, "the pod has failed")
	}
	return waiting, ""
}

// trouble is why a container cannot start, or has ended badly; empty when neither is so. A container that is still being made is none, and
// neither is an image that could not be pulled once.
func trouble(state corev1.ContainerState) string {
	if w := state.Waiting; w != nil {
		switch w.Reason {
		case "", "PodInitializing", "ContainerCreating", "ErrImagePull":
			return ""
		}
		return w.Reason
	}
	if t := state.Terminated; t != nil && (t.ExitCode != 0 || t.Reason != "" && t.Reason != "Completed") {
		return cmp.Or(t.Reason, "exit code "+strconv.Itoa(int(t.ExitCode)))
	}
	return ""
}
