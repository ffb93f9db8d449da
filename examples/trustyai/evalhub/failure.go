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
	// reportCheck is how soon a pass checks whether a report has arrived.
	reportCheck = time.Second
	// What a Job has whose failure was reported.
	reportedAnnotation = group + "/evalhub-failure-reported"
	phaseLabel         = group + "/evaluation-phase"
)

// run is an evaluation of the hub that has not ended well, as far as its pods show.
type run struct {
	job  batchv1.Job
	pods reconcile.FetchResult[*corev1.PodList]
	// arrived reports that this process has told the hub.
	arrived bool
	// workload is what the queue knows of the Job, nil for nothing. queueReported reports that the hub knows that it is not admitted.
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

// reportState is how far the report of a failure has come.
type reportState string

const (
	unreported reportState = "Unreported"
	arrived    reportState = "Arrived" // this process has told the hub, and the Job does not say so yet
	phased     reportState = "Phased"  // the Job is marked as failed by its phase, as when its queue does not admit it
	marked     reportState = "Marked"  // the Job says that the hub knows
)

// fate is what has become of an evaluation.
type fate string

const (
	well    fate = "well"    // it runs or has ended well, or its adapter reports what has become of it
	failing fate = "failing" // its pods have failed of what only the operator sees
	over    fate = "failed"  // the Job is over without success
)

// reporting is what a pass does about the failure of an evaluation.
type reporting string

const (
	watch  reporting = "watch"
	send   reporting = "report" // tell the hub
	mark   reporting = "mark"   // store that the hub knows
	remove reporting = "remove" // delete the Job
)

// reportings has each failure reported once: when the report has arrived the Job is marked, and when the mark is stored the
// Job is removed. So a report is sent again only if the operator stops between the answer and the mark.
var reportings = transition.Table[reportState, fate, reporting]{
	Name:    "failures of evaluations",
	States:  []reportState{unreported, arrived, phased, marked},
	Facts:   []fate{well, failing, over},
	Always:  map[reportState]reporting{unreported: watch, arrived: mark, phased: remove, marked: remove},
	Actions: map[reportState]map[fate]reporting{unreported: {failing: send}, phased: {well: watch}},
	Leads:   map[reporting][]reportState{send: {arrived}, mark: {marked}},
	Entered: []reportState{phased},
}

// reportState reads the Job, and what this process has observed.
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

// planReports plans what is due for each evaluation. The adapter reports its own failures.
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
			plan.KeepKind(batchv1.SchemeGroupVersion.WithKind("Job")) // the mark stays as long as the Job does
		case mark:
			plan.Contribute(markOf(&one.job, message))
		case watch, send:
			r.planQueue(plan, obs, one)
		}
		switch {
		case message == "" || !complete:
		case action == mark: // it is remembered until the mark is stored
			r.reports.Ensure(plan, keyOfReport(obs.hub, &one.job), what)
		case action == send && what.url != "":
			r.reports.Ensure(plan, keyOfReport(obs.hub, &one.job), what)
			plan.RequeueAfter = reportCheck
		}
	}
}

// markOf is what the Job gets when its hub knows of the failure.
func markOf(job *batchv1.Job, message string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name, Labels: map[string]string{phaseLabel: "Failed"},
		Annotations: map[string]string{reportedAnnotation: "true", statusAnnotation: cmp.Or(message, job.Annotations[statusAnnotation])},
	}}
}

// failed reports whether a Job is over without success.
func failed(job *batchv1.Job) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return job.Status.Active == 0 && job.Status.Failed > 0 && job.Status.Succeeded == 0
}

// reportsTo is where the hub takes reports, empty while it is not ready. Its own status wakes nobody, its Deployment does.
func (obs Observation) reportsTo() string {
	switch {
	case obs.hub.Status.Ready == "True":
		return obs.hub.Status.URL
	case runs(obs.fetched.deployment.Value):
		return obs.names.url("")
	}
	return ""
}

// failure is what the pods of the Job failed of that only the operator sees, and after which time it may be more.
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

// judged is how a pod of an evaluation fails that its adapter does not report itself.
var judged = inspect.Run{
	Containers: []string{"init", adapter, "sidecar"}, Unschedulable: grace,
	Stuck: func(reason string) bool { return slices.Contains(stuck, reason) },
	Failed: func(container string, end *corev1.ContainerStateTerminated) bool {
		failed := end.Reason == "Error" || end.ExitCode != 0 && end.Reason != "Completed"
		return end.Reason == "OOMKilled" || failed && container != adapter
	},
}

// adapter is the container that evaluates.
const adapter = "adapter"

// podFailure is the failure of a pod, or for how long it may still be unschedulable.
func podFailure(pod *corev1.Pod, now time.Time) (string, time.Duration) {
	switch outcome := judged.Of(pod, now); {
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

// stuck are the reasons for which a container waits that does not start by itself.
var stuck = []string{
	"ImagePullBackOff", "ErrImagePull", "CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError",
	"InvalidImageName", "RunContainerError",
}

// reportOf is the report of a Job; not complete without the labels that say what it evaluates.
func reportOf(job *batchv1.Job, message string) (r report, complete bool) {
	r = report{
		job: job, jobID: job.Labels["job_id"],
		event: statusEvent{Provider: job.Labels["provider_id"], Benchmark: job.Labels["benchmark_id"], Status: "failed"},
	}
	r.event.Error.Message, r.event.Error.Code = message, "RUNTIME_FAILURE"
	r.event.Index, _ = strconv.Atoi(job.Labels["benchmark_index"])
	return r, r.jobID != "" && r.event.Provider != "" && r.event.Benchmark != ""
}

// keyOfReport begins with the hub, which is the system that is called.
func keyOfReport(hub *v1.EvalHub, job *batchv1.Job) string {
	return strings.Join([]string{hub.Namespace, hub.Name, job.Namespace, job.Name, string(job.UID)}, "/")
}

func keyOfQueue(hub *v1.EvalHub, job *batchv1.Job) string { return keyOfReport(hub, job) + "/queue" }
