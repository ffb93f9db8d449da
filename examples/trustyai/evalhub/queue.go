package evalhub

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
)

const (
	queueAnnotation  = group + "/evalhub-kueue-failed-workload-reported"
	statusAnnotation = group + "/evaluation-status"
)

// workloadOf returns the workload of the Job.
func workloadOf(job *batchv1.Job, all reconcile.FetchResult[*foreign.WorkloadList]) *foreign.Workload {
	if all.Value == nil {
		return nil
	}
	at := slices.IndexFunc(all.Value.Items, func(w foreign.Workload) bool {
		return slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == job.UID })
	})
	if at < 0 {
		return nil
	}
	return &all.Value.Items[at]
}

// planQueue reports once that the queue does not admit the Job, and marks both. The Job stays, because the queue may admit it later.
func (r Reconciler) planQueue(plan *reconcile.PlanResult, obs Observation, one *run) {
	if one.workload == nil {
		return
	}
	marked := one.workload.Annotations[queueAnnotation] == "true"
	reserved := meta.FindStatusCondition(one.workload.Status.Conditions, "QuotaReserved")
	refused := reserved != nil && reserved.Status == metav1.ConditionFalse && reserved.Reason == "Inadmissible"
	message := one.job.Annotations[statusAnnotation]
	if refused && !marked && (one.queueReported || one.reportState() == unreported) {
		what, complete := reportOf(&one.job, "")
		what.url = obs.reportsTo()
		what.event.Error.Code, what.event.Error.Message = queueCode(&one.job.Spec.Template.Spec, reserved.Message)
		message = what.event.Error.Message
		if complete && (one.queueReported || what.url != "") {
			r.reports.Ensure(plan, keyOfQueue(obs.hub, &one.job), what)
			if !one.queueReported {
				plan.RequeueAfter = reportCheck
			}
		}
	}
	if marked || one.queueReported && refused {
		plan.Contribute(&foreign.Workload{ObjectMeta: metav1.ObjectMeta{
			Namespace: one.workload.Namespace, Name: one.workload.Name, Annotations: map[string]string{queueAnnotation: "true"},
		}})
		plan.Contribute(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Namespace: one.job.Namespace, Name: one.job.Name, Labels: map[string]string{phaseLabel: "Failed"},
			Annotations: map[string]string{statusAnnotation: cmp.Or(message, waitsInQueue)},
		}})
	}
}

const (
	waitsInQueue = "The evaluation job cannot be admitted to the requested queue. " +
		"The job will run when sufficient resources become available."
	waitsForGPU = "GPU resources required by this evaluation are not currently available in the requested queue. " +
		"The job will run when GPU capacity becomes available."
)

// queueCode returns the code for a Job that the queue does not admit. It is that of GPUs if the Job requests some and the message
// mentions them.
func queueCode(pod *corev1.PodSpec, message string) (code, text string) {
	isGPU := func(name string) bool { return strings.HasSuffix(name, "/gpu") || strings.HasSuffix(name, ".gpu") }
	asks := slices.ContainsFunc(slices.Concat(pod.InitContainers, pod.Containers), func(c corev1.Container) bool {
		for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			for name := range list {
				if isGPU(string(name)) {
					return true
				}
			}
		}
		return false
	})
	mentioned := slices.ContainsFunc(strings.Fields(message), func(word string) bool {
		word = strings.Trim(word, ",.;:()\"'")
		return strings.Contains(word, "/") && isGPU(word)
	})
	if asks && mentioned {
		return "gpu_unavailable", waitsForGPU
	}
	return "queue_error", waitsInQueue
}
