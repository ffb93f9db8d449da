package lmes

import (
	"strconv"
	"time"

	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/runonce"
	"github.com/reconcilekit/reconcilekit/reconcile/transition"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
)

// generation is an annotation. On a job it is the generation of the spec that was last scheduled or found invalid, on a pod that of
// its spec.
const generation = guardrails.Domain + "last-scheduled-generation"

// runs are the pods of jobs, one for each generation.
var runs = runonce.Run[*corev1.Pod]{Annotation: generation}

// position is the state of a job in its stored status.
type position string

const (
	unrecorded  position = "Unrecorded"  // the annotation does not have this generation yet
	unscheduled position = "Unscheduled" // no pod was created for this generation
	scheduled   position = "Scheduled"
	cancelled   position = "Cancelled" // a user requests that it ends
	suspended   position = "Suspended"
	unqueued    position = "Unqueued" // the job manager is enabled, and the job names no queue
	complete    position = "Complete"
	changed     position = "Changed" // the spec has changed since the pod was created
)

// podState is the observed state of a job's pod.
type podState string

const (
	absent    podState = "absent"
	foreign   podState = "of others"
	leaving   podState = "leaving"  // it is being deleted
	outdated  podState = "outdated" // it belongs to an earlier generation
	waiting   podState = "waiting"
	running   podState = "running"
	reported  podState = "reported" // it runs, and its driver has ended the evaluation
	succeeded podState = "succeeded"
	failed    podState = "failed"
)

// action is the action of a reconciliation.
type action string

const (
	record  action = "record"  // store the generation, so that it gets no second pod
	create  action = "create"  // create the pod, or adopt the one of this generation
	collide action = "collide" // fail the job, as its pod cannot be created
	discard action = "discard" // delete the pod, to create another one
	restart action = "restart" // start over with the changed spec
	await   action = "await"   // leave the pod as it is
	follow  action = "follow"  // the pod runs
	finish  action = "finish"  // store the report of the driver, and request it to stop
	dismiss action = "dismiss" // request the driver of a job that has ended to stop
	hold    action = "hold"    // there is no pod while the job is suspended
	stop    action = "stop"    // delete the pod of a job that is suspended
	refuse  action = "refuse"  // fail the job, as it names no queue, and delete its pod
	succeed action = "succeed"
	fail    action = "fail"
	miss    action = "miss" // fail the job, as its pod is gone
	cancel  action = "cancel"
	rest    action = "rest"
)

// transitions maps the position of a job and the state of its pod to an action.
var transitions = transition.Table[position, podState, action]{
	Name:   "LMEvalJob",
	States: []position{unrecorded, unscheduled, scheduled, cancelled, suspended, unqueued, complete, changed},
	Facts:  []podState{absent, foreign, leaving, outdated, waiting, running, reported, succeeded, failed},
	Always: map[position]action{
		unrecorded: record, unscheduled: create, cancelled: cancel, suspended: stop, unqueued: refuse, complete: rest, changed: restart,
	},
	Actions: map[position]map[podState]action{
		unscheduled: {foreign: collide, leaving: await, outdated: discard},
		scheduled: {
			absent: miss, foreign: miss, leaving: await, outdated: restart, waiting: await, running: follow, reported: finish,
			succeeded: succeed, failed: fail,
		},
		cancelled: {absent: miss, foreign: miss},
		suspended: {absent: hold, foreign: hold, leaving: hold},
		complete:  {running: dismiss, reported: dismiss},
	},
	Leads: map[action][]position{
		record: {unscheduled}, create: {scheduled, complete}, restart: {unrecorded, unscheduled},
		collide: {complete}, finish: {complete}, succeed: {complete}, fail: {complete}, miss: {complete}, cancel: {complete}, refuse: {complete},
	},
	Entered: []position{cancelled, suspended, unqueued, changed},
}

// positionOf derives the position from the stored status. A status without times means that no pod was scheduled. With the job
// manager a job must name a queue, which decides when it runs.
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

// noQueue is the failure of a job that names no queue.
const noQueue = "job requires " + kueue.QueueLabel + " label"

// generationOf reads the annotation, and returns zero if there is none.
func generationOf(object metav1.Object) int64 {
	last, err := strconv.ParseInt(object.GetAnnotations()[generation], 10, 64)
	if err != nil {
		return 0
	}
	return last
}

// stateOfPod returns the observed state of a job's pod, and why it has ended. While the evaluation runs, the report of the driver
// takes precedence.
func stateOfPod(job *v1alpha1.LMEvalJob, pod *corev1.Pod, driver progress) (podState, string) {
	fetched := reconcile.FetchResult[*corev1.Pod]{Value: pod}
	switch runs.Stage(job, fetched, strconv.FormatInt(job.Generation, 10)) { //nolint:exhaustive // the pod was read
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

// stuck reports whether a container cannot start. The kubelet retries a failed pull of an image.
func stuck(reason string) bool { return reason != "ErrImagePull" && inspect.Stuck(reason) }
