package lmes

import (
	"strconv"
	"time"

	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/runonce"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
)

// generation is the annotation of a job with the generation of the spec that was scheduled last, or found invalid, and of a pod with the
// one that it was made for.
const generation = guardrails.Domain + "last-scheduled-generation"

// runs are the pods of jobs, one for each generation.
var runs = runonce.Run[*corev1.Pod]{Annotation: generation}

// position is where the stored status has a job.
type position int

const (
	unrecorded  position = iota // the annotation does not have this generation yet
	unscheduled                 // no pod was made for this generation
	scheduled
	cancelled // somebody asks for it to end
	suspended
	unqueued // the job manager runs, and the job names no queue
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
	reported // it runs, and its driver has ended the evaluation
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
	finish                // take what the driver has reported, and tell it to stop
	dismiss               // tell the driver of a job that has ended to stop
	hold                  // there is no pod while the job is suspended
	stop                  // delete the pod of a job that is suspended
	refuse                // the job fails, as it names no queue, and its pod goes
	succeed
	fail
	miss // the job fails, as its pod is gone
	cancel
	rest
)

// transitions are the actions by the position of a job and the sight of its pod.
var transitions = [positions][sights]action{
	unrecorded: {
		absent: record, foreign: record, leaving: record, outdated: record, waiting: record, running: record, reported: record,
		succeeded: record, failed: record,
	},
	unscheduled: {
		absent: create, foreign: collide, leaving: await, outdated: discard, waiting: create, running: create, reported: create,
		succeeded: create, failed: create,
	},
	scheduled: {
		absent: miss, foreign: miss, leaving: await, outdated: restart, waiting: await, running: follow, reported: finish,
		succeeded: succeed, failed: fail,
	},
	cancelled: {
		absent: miss, foreign: miss, leaving: cancel, outdated: cancel, waiting: cancel, running: cancel, reported: cancel,
		succeeded: cancel, failed: cancel,
	},
	suspended: {
		absent: hold, foreign: hold, leaving: hold, outdated: stop, waiting: stop, running: stop, reported: stop, succeeded: stop, failed: stop,
	},
	unqueued: {
		absent: refuse, foreign: refuse, leaving: refuse, outdated: refuse, waiting: refuse, running: refuse, reported: refuse,
		succeeded: refuse, failed: refuse,
	},
	complete: {
		absent: rest, foreign: rest, leaving: rest, outdated: rest, waiting: rest, running: dismiss, reported: dismiss, succeeded: rest, failed: rest,
	},
	changed: {
		absent: restart, foreign: restart, leaving: restart, outdated: restart, waiting: restart, running: restart, reported: restart,
		succeeded: restart, failed: restart,
	},
}

// positionOf reads the stored status. Without any time in it nothing was scheduled. With the job manager a job must name a queue, which
// decides when it runs.
func positionOf(job *v1alpha1.LMEvalJob, managed bool) position {
	last, state := generationOf(job), job.Status.State
	if job.Status.LastScheduleTime == nil && job.Status.CompleteTime == nil {
		state = v1alpha1.JobNew
	}
	ended, unnamed := state == v1alpha1.JobComplete, managed && job.Labels[kueue.QueueLabel] == ""
	other := last > 0 && last != job.Generation
	switch {
	case ended && (other || job.Status.Message == noQueue && !unnamed):
		return changed
	case ended:
		return complete
	case unnamed:
		return unqueued
	case state == v1alpha1.JobCancelled:
		return cancelled
	case ptr.Deref(job.Spec.Suspend, managed):
		return suspended
	case state == v1alpha1.JobScheduled || state == v1alpha1.JobRunning:
		if other {
			return changed
		}
		return scheduled
	case last != job.Generation:
		return unrecorded
	}
	return unscheduled
}

// noQueue is why a job fails that names no queue.
const noQueue = "job requires " + kueue.QueueLabel + " label"

// generationOf reads the annotation, zero for none.
func generationOf(object metav1.Object) int64 {
	last, err := strconv.ParseInt(object.GetAnnotations()[generation], 10, 64)
	if err != nil {
		return 0
	}
	return last
}

// look is what is seen of the pod of a job, and why it has ended. The driver is believed as long as the evaluation runs.
func look(job *v1alpha1.LMEvalJob, pod *corev1.Pod, driver progress) (sight, string) {
	switch runs.Stage(job, reconcile.FetchResult[*corev1.Pod]{Value: pod}, strconv.FormatInt(job.Generation, 10)) { //nolint:exhaustive // the pod was read
	case runonce.Absent, runonce.Lost:
		return absent, ""
	case runonce.Foreign:
		return foreign, ""
	case runonce.Leaving:
		return leaving, ""
	case runonce.Outdated:
		return outdated, ""
	}
	counted := []string{mainContainer}
	for i := range pod.Status.InitContainerStatuses {
		counted = append(counted, pod.Status.InitContainerStatuses[i].Name)
	}
	switch outcome := (inspect.Run{Containers: counted, Stuck: stuck}).Of(pod, time.Time{}); {
	case outcome.Phase == corev1.PodFailed:
		return failed, outcome.Why()
	case outcome.Phase == corev1.PodSucceeded:
		return succeeded, ""
	case outcome.Phase != corev1.PodRunning:
		return waiting, ""
	case driver.State == v1alpha1.JobComplete:
		return reported, ""
	}
	return running, ""
}

// stuck reports whether a container cannot start. An image that could not be pulled once is tried again.
func stuck(reason string) bool { return reason != "ErrImagePull" && inspect.Stuck(reason) }
