package evalhub

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/transition"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

const (
	// grace is how long a pod may be unschedulable.
	grace = 2 * time.Minute
	// reportCheck is how often a reconciliation checks whether a report has arrived.
	reportCheck = time.Second
	// The annotations of a Job whose failure was reported.
	reportedAnnotation = group + "/evalhub-failure-reported"
	phaseLabel         = group + "/evaluation-phase"
)

// run is an evaluation of the hub that has not succeeded, as far as its pods show.
type run struct {
	job  batchv1.Job
	pods reconcile.FetchResult[*corev1.PodList]
	// arrived reports that this process has sent the report.
	arrived bool
	// workload is the queue's object of the Job, or nil. queueReported reports that the hub was informed that the queue does not admit
	// the Job.
	workload      *foreign.Workload
	queueReported bool
}

// fetchRuns reads the evaluations of the hub in the namespaces of tenants.
func (r Reconciler) fetchRuns(ctx context.Context, reader reconcile.Reader, hub *v1.EvalHub) (out []run) {
	jobs := reconcile.FetchList(ctx, reader, &batchv1.JobList{}, client.MatchingLabels{
		"app": "evalhub", "component": "evaluation-job", "evalhub_instance_name": hub.Name, "evalhub_instance_namespace": hub.Namespace,
	})
	if jobs.Value == nil {
		return nil
	}
	for _, job := range jobs.Value.Items {
		home := reconcile.Fetch(ctx, reader, client.ObjectKey{Name: job.Namespace}, &corev1.Namespace{})
		if job.Status.CompletionTime != nil || !job.DeletionTimestamp.IsZero() || home.Value == nil || !r.tenants.admits(home.Value, hub) {
			continue
		}
		one := run{job: job}
		one.pods = reconcile.FetchList(
			ctx, reader, &corev1.PodList{}, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name},
		)
		one.arrived = r.reports.Observe(ctx, reader, keyOfReport(hub, &job)).OK()
		in := client.InNamespace(job.Namespace)
		if one.workload = workloadOf(&job, reconcile.FetchList(ctx, reader, &foreign.WorkloadList{}, in)); one.workload != nil {
			one.queueReported = r.reports.Observe(ctx, reader, keyOfQueue(hub, &job)).OK()
		}
		out = append(out, one)
	}
	return out
}

// reportState is the state of the report of a failure.
type reportState string

const (
	unreported reportState = "Unreported"
	arrived    reportState = "Arrived" // this process has sent the report, and the Job has no mark yet
	phased     reportState = "Phased"  // the Job is marked as failed with its phase, as when its queue does not admit it
	marked     reportState = "Marked"  // the Job has the mark
)

// fate is the result of an evaluation.
type fate string

const (
	well    fate = "well"    // it runs or has succeeded, or its adapter reports the result
	failing fate = "failing" // its pods have a failure that only the operator sees
	over    fate = "failed"  // the Job has ended without success
)

// reporting is the action for the failure of an evaluation.
type reporting string

const (
	watch  reporting = "watch"
	send   reporting = "report" // send the report
	mark   reporting = "mark"   // set the mark on the Job
	remove reporting = "remove" // delete the Job
)

// reportings defines that each failure is reported once: the Job is marked after the report has arrived, and deleted after the mark
// is stored. A report is sent twice only if the operator stops between the answer and the mark.
var reportings = transition.Table[reportState, fate, reporting]{
	Name:    "failures of evaluations",
	States:  []reportState{unreported, arrived, phased, marked},
	Facts:   []fate{well, failing, over},
	Always:  map[reportState]reporting{unreported: watch, arrived: mark, phased: remove, marked: remove},
	Actions: map[reportState]map[fate]reporting{unreported: {failing: send}, phased: {well: watch}},
	Leads:   map[reporting][]reportState{send: {arrived}, mark: {marked}},
	Entered: []reportState{phased},
}

// reportState derives the state from the Job and the memory of this process.
func (r *run) reportState() reportState {
	switch {
	case r.job.Annotations[reportedAnnotation] == "true":
		return marked
	case r.arrived:
		return arrived
	case r.job.Labels[phaseLabel] == "Failed":
		return phased
	}
	return unreported
}

// planReports plans the action for each evaluation. The adapter reports its own failures.
func (r Reconciler) planReports(plan *reconcile.PlanResult, obs Observation, now time.Time) {
	for i := range obs.fetched.runs {
		one := &obs.fetched.runs[i]
		message, again := one.failure(now)
		if again > 0 && (plan.RequeueAfter == 0 || again < plan.RequeueAfter) {
			plan.RequeueAfter = again
		}
		seen := well
		if message != "" {
			seen = failing
		} else if failed(&one.job) {
			seen = over
		}
		what, complete := reportOf(&one.job, message)
		what.url = obs.reportsTo()
		action := reportings.Action(one.reportState(), seen)
		switch action {
		case remove:
			plan.Delete(&one.job, apply.PropagationPolicy(metav1.DeletePropagationBackground))
			plan.KeepKind(batchv1.SchemeGroupVersion.WithKind("Job")) // the mark stays while the Job exists
		case mark:
			plan.Contribute(markOf(&one.job, message))
		case watch, send:
			r.planQueue(plan, obs, one)
		}
		switch {
		case message == "" || !complete:
		case action == mark: // keep it until the mark is stored
			r.reports.Ensure(plan, keyOfReport(obs.hub, &one.job), what)
		case action == send && what.url != "":
			r.reports.Ensure(plan, keyOfReport(obs.hub, &one.job), what)
			plan.RequeueAfter = reportCheck
		}
	}
}

// markOf returns the mark of a Job whose failure was reported.
func markOf(job *batchv1.Job, message string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name, Labels: map[string]string{phaseLabel: "Failed"},
		Annotations: map[string]string{reportedAnnotation: "true", statusAnnotation: cmp.Or(message, job.Annotations[statusAnnotation])},
	}}
}

// failed reports whether a Job has ended without success.
func failed(job *batchv1.Job) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return job.Status.Active == 0 && job.Status.Failed > 0 && job.Status.Succeeded == 0
}

// reportsTo returns the URL for reports, empty while the hub is not ready. A change of the hub's own status does not enqueue it; a
// change of its Deployment does.
func (obs Observation) reportsTo() string {
	switch {
	case obs.hub.Status.Ready == "True":
		return obs.hub.Status.URL
	case runs(obs.fetched.deployment.Value):
		return obs.names.url("")
	}
	return ""
}

// failure returns the failure of the Job's pods that only the operator sees, and the time after which it must check again.
func (r *run) failure(now time.Time) (message string, again time.Duration) {
	var failures []string
	if r.pods.Value == nil {
		return "", 0
	}
	for i := range r.pods.Value.Items {
		pod := &r.pods.Value.Items[i]
		if !slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == r.job.UID }) {
			continue
		}
		text, wait := podFailure(pod, now)
		if text != "" {
			failures = append(failures, "pod "+pod.Name+": "+text)
		}
		if wait > 0 && (again == 0 || wait < again) {
			again = wait
		}
	}
	slices.Sort(failures)
	return strings.Join(failures, "; "), again
}

// podRun detects failures of a pod that its adapter does not report.
var podRun = inspect.Run{
	Containers: []string{"init", adapter, "sidecar"}, Unschedulable: grace,
	Stuck: func(reason string) bool { return slices.Contains(stuck, reason) },
	Failed: func(container string, end *corev1.ContainerStateTerminated) bool {
		failed := end.Reason == "Error" || end.ExitCode != 0 && end.Reason != "Completed"
		return end.Reason == "OOMKilled" || failed && container != adapter
	},
}

// adapter is the container that runs the evaluation.
const adapter = "adapter"

// podFailure returns the failure of a pod, or how long it may still be unschedulable.
func podFailure(pod *corev1.Pod, now time.Time) (string, time.Duration) {
	switch outcome := podRun.Of(pod, now); {
	case outcome.Ended != nil:
		return fmt.Sprintf(
			"%s: terminated reason=%s exitCode=%d message=%s", outcome.Container, outcome.Reason, outcome.Ended.ExitCode,
			outcome.Message,
		), 0
	case outcome.Container != "":
		return fmt.Sprintf("%s: waiting reason=%s message=%s", outcome.Container, outcome.Reason, outcome.Message), 0
	case outcome.Reason == corev1.PodReasonUnschedulable:
		return strings.TrimSuffix("pod unschedulable: "+outcome.Message, ": "), 0
	default:
		return "", outcome.Again
	}
}

// stuck are the waiting reasons of a container that does not start without help.
var stuck = []string{
	"ImagePullBackOff", "ErrImagePull", "CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError",
	"InvalidImageName", "RunContainerError",
}

// reportOf returns the report of a Job. The result is false without the labels that describe the evaluation.
func reportOf(job *batchv1.Job, message string) (r report, complete bool) {
	r = report{
		job: job, jobID: job.Labels["job_id"],
		event: statusEvent{Provider: job.Labels["provider_id"], Benchmark: job.Labels["benchmark_id"], Status: "failed"},
	}
	r.event.Error.Message, r.event.Error.Code = message, "RUNTIME_FAILURE"
	r.event.Index, _ = strconv.Atoi(job.Labels["benchmark_index"])
	return r, r.jobID != "" && r.event.Provider != "" && r.event.Benchmark != ""
}

// keyOfReport returns the key of a report. It begins with the hub, which is the called system.
func keyOfReport(hub *v1.EvalHub, job *batchv1.Job) string {
	return strings.Join([]string{hub.Namespace, hub.Name, job.Namespace, job.Name, string(job.UID)}, "/")
}

func keyOfQueue(hub *v1.EvalHub, job *batchv1.Job) string { return keyOfReport(hub, job) + "/queue" }
