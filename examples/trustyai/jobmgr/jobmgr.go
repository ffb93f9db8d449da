package jobmgr

import (
	"context"
	"maps"
	"slices"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// Name is the name of the controller, and the field manager of its fields in jobs.
const Name = "trustyai-job-manager"

// Reconciler implements the phases of the workloads of jobs. Create its controller with [New].
type Reconciler struct{}

type rcontext = reconcile.ReconcileContext[*kueue.Workload]

// New declares the controller of the workloads that the controller of LMEvalJob creates. The decision of the queue is contributed to
// the job, and withdrawn when the workload is deleted.
func New() *controller.Controller {
	return controller.New(Name, Reconciler{}).
		Reads(&v1alpha1.LMEvalJob{}).
		Writes(&v1alpha1.LMEvalJob{}, controller.FieldsOnly).
		Reads(&kueue.ResourceFlavor{}, controller.Optional).
		Options(controller.Options{Apply: apply.Options{Finalizer: kueue.Finalizer}}).Build()
}

// Fetched contains the objects that were read for a workload.
type Fetched struct {
	job     reconcile.FetchResult[*v1alpha1.LMEvalJob]
	flavors []reconcile.FetchResult[*kueue.ResourceFlavor] // the flavors of its pod, by name
}

// Observation is a workload and its job.
type Observation struct {
	workload *kueue.Workload
	job      reconcile.FetchResult[*v1alpha1.LMEvalJob]
	labels   map[string]string // the node labels
	failure  error             // why the labels are unknown
}

// FetchRemoteState reads the job, and the flavors of its pod. It ignores workloads of other owners.
func (Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) (f Fetched) {
	owner := metav1.GetControllerOfNoCopy(rc.Object)
	if owner == nil || owner.Kind != "LMEvalJob" || !rc.Object.DeletionTimestamp.IsZero() {
		return f
	}
	f.job = reconcile.Fetch(ctx, reader, client.ObjectKey{Namespace: rc.Object.Namespace, Name: owner.Name}, &v1alpha1.LMEvalJob{})
	if admission := rc.Object.Status.Admission; admission != nil && len(admission.Assignments) > 0 {
		for _, flavor := range slices.Sorted(maps.Values(admission.Assignments[0].Flavors)) {
			f.flavors = append(f.flavors, reconcile.Fetch(ctx, reader, client.ObjectKey{Name: flavor}, &kueue.ResourceFlavor{}))
		}
	}
	return f
}

// ComposeState joins the labels of the flavors. A flavor that does not exist, or whose kind is not installed, has none.
func (Reconciler) ComposeState(_ context.Context, rc rcontext, f Fetched) Observation {
	obs := Observation{workload: rc.Object, job: f.job, labels: map[string]string{}}
	for _, flavor := range f.flavors {
		if err := flavor.Failure(); err != nil && !controller.IsAbsent(err) {
			obs.failure = err
		}
		if flavor.Value != nil {
			maps.Copy(obs.labels, flavor.Value.Spec.NodeLabels)
		}
	}
	return obs
}

func (obs Observation) complete() bool {
	return obs.job.Value != nil && obs.job.Value.Status.State == v1alpha1.JobComplete
}

func (obs Observation) admitted() bool {
	return obs.workload.Is(kueue.Admitted) && !obs.workload.Is(kueue.Evicted)
}

// PlanResources runs the job when the queue admits it, and suspends it when the queue evicts it. A job that has ended stays as it
// is, because a change of its spec would start another run.
func (Reconciler) PlanResources(_ context.Context, _ rcontext, obs Observation) (plan reconcile.PlanResult, err error) {
	switch job := obs.job.Value; {
	case obs.failure != nil:
		return plan, obs.failure
	case job == nil || obs.complete():
		plan.Policy, plan.Hold = apply.Suspend, job != nil
	case obs.admitted():
		plan.Contribute(suspension(job, false, obs.labels), apply.Force("spec.suspend"))
	case obs.workload.Is(kueue.Evicted):
		plan.Contribute(suspension(job, true, nil), apply.Force("spec.suspend"))
	default:
		plan.Hold = true
	}
	return plan, nil
}

// suspension returns the fields that the queue sets on a job. Nodes are selected by all labels.
func suspension(job *v1alpha1.LMEvalJob, suspended bool, labels map[string]string) *unstructured.Unstructured {
	spec := map[string]any{"suspend": suspended}
	if len(labels) > 0 {
		var all []any
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			all = append(all, map[string]any{"key": key, "operator": "In", "values": []any{labels[key]}})
		}
		spec["pod"] = map[string]any{"affinity": map[string]any{"nodeAffinity": map[string]any{
			"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": all}}},
		}}}
	}
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("LMEvalJob"))
	out.SetNamespace(job.Namespace)
	out.SetName(job.Name)
	return out
}

// DecorateStatus reports to the queue that the job has ended, or that it has released its quota.
func (Reconciler) DecorateStatus(
	_ *kueue.WorkloadStatus, cm *conditions.Manager, _ reconcile.StatusContext[*kueue.Workload], obs Observation,
) {
	job := obs.job.Value
	if job == nil {
		return
	}
	obs.repeat(cm)
	switch {
	case obs.complete():
		cm.MarkTrue(kueue.Finished, string(outcome(job)), conditions.Bound(job.Status.Message))
	case obs.admitted():
		cm.MarkTrue("Running", "Admitted", "Admitted by clusterQueue "+obs.clusterQueue(), conditions.EventReason("Started"))
	case obs.workload.Is(kueue.Evicted):
		cm.MarkFalse("Running", "Evicted", "The queue needs the room of the job", conditions.EventReason("Stopped"))
		if job.Status.State != v1alpha1.JobScheduled && job.Status.State != v1alpha1.JobRunning {
			evicted := meta.FindStatusCondition(obs.workload.Status.Conditions, kueue.Evicted)
			cm.MarkFalse(kueue.QuotaReserved, "Pending", conditions.Bound(evicted.Message))
			cm.MarkFalse(kueue.Admitted, "NoReservation", "The workload has no reservation")
			cm.MarkTrue(kueue.Requeued, evicted.Reason, conditions.Bound(evicted.Message)) // as in Kueue's library
		}
	}
}

// repeat sets the conditions of an evicted job again, with the changes of the queue. Without them, the apply would remove the fields
// that only this field manager owns.
func (obs Observation) repeat(cm *conditions.Manager) {
	stored := obs.workload.Status.Conditions
	if meta.FindStatusCondition(stored, kueue.Requeued) == nil {
		return
	}
	for _, kind := range []string{kueue.QuotaReserved, kueue.Admitted, kueue.Requeued} {
		if c := meta.FindStatusCondition(stored, kind); c != nil {
			cm.Set(c.Type, c.Status, c.Reason, c.Message, conditions.Silent)
		}
	}
}

func outcome(job *v1alpha1.LMEvalJob) v1alpha1.JobReason {
	if job.Status.Reason == v1alpha1.JobSucceeded {
		return v1alpha1.JobSucceeded
	}
	return v1alpha1.JobFailed
}

func (obs Observation) clusterQueue() string {
	if obs.workload.Status.Admission == nil {
		return ""
	}
	return obs.workload.Status.Admission.ClusterQueue
}
