package lmes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/naming"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/jobmgr"
)

// workloadName returns the name of the workload for this spec of a job. It changes with the spec, except for fields that the queue
// sets.
func workloadName(job *v1alpha1.LMEvalJob) string {
	spec := job.Spec.DeepCopy()
	spec.Suspend = nil
	if spec.Pod != nil {
		spec.Pod.Affinity = nil
		if reflect.ValueOf(*spec.Pod).IsZero() {
			spec.Pod = nil
		}
	}
	text, _ := json.Marshal(spec) //nolint:errchkjson // it came from JSON
	sum := sha256.Sum256(append(text, job.UID...))
	return naming.DNSSubdomain("lmevaljob-" + job.Name + "-" + hex.EncodeToString(sum[:])[:5])
}

// planWorkload plans the workload, which stays in the queue until the job manager runs the job. It does not change when the job has
// ended.
func (obs Observation) planWorkload(plan *reconcile.PlanResult) {
	job := obs.job
	workload := &kueue.Workload{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: workloadName(job), Labels: map[string]string{kueue.JobUIDLabel: string(job.UID)},
	}}
	found, err := images.Resolve(obs.fetched.config, images.Evaluation, images.Driver)
	if err != nil || obs.queued == "" {
		plan.Keep(workload)
		return
	}
	pod := podOf{job, obs.settings, found[images.Evaluation], found[images.Driver], obs.bundle != ""}.build()
	if placed(job) {
		pod.Spec.Affinity = nil // the nodes of an earlier admission
	}
	workload.Spec = kueue.WorkloadSpec{QueueName: job.Labels[kueue.QueueLabel], PodSets: []kueue.PodSet{{
		Name: naming.DNSLabel(job.Name), Count: 1, Template: corev1.PodTemplateSpec{Spec: pod.Spec},
	}}}
	plan.Apply(workload, apply.CreateOnly("spec.podSets"))
}

// placed reports whether the job manager has selected nodes for a job.
func placed(job *v1alpha1.LMEvalJob) bool {
	return slices.ContainsFunc(job.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(e.Manager, jobmgr.Name+":")
	})
}
