package lmes

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// act performs the action, and sets the resulting status. A pod is created only for a valid spec, and when all its inputs exist.
func (obs *Observation) act(a action, problem string) {
	obs.action = a
	switch a {
	case create:
		obs.prepare()
	case collide:
		obs.end(v1alpha1.JobFailed, fmt.Sprintf("pods %q already exists and is not of this job", obs.job.Name))
	case discard:
		obs.begin("waiting for the pod of the earlier spec to go")
	case record:
		obs.begin("")
	case restart:
		obs.begin("")
		// Leaving the field out would not clear a time that another field manager has set. This reconciliation overwrites it, and the
		// next one leaves it out.
		obs.status.CompleteTime = &obs.now
	case follow:
		obs.status.State = v1alpha1.JobRunning
		obs.take()
	case finish:
		obs.take()
		obs.end(cmp.Or(obs.status.Reason, v1alpha1.NoReason), obs.status.Message)
	case hold, stop:
		obs.status.State, obs.status.Reason, obs.status.Message, obs.status.CompleteTime = v1alpha1.JobSuspended, v1alpha1.NoReason, "", nil
	case refuse:
		obs.end(v1alpha1.JobFailed, noQueue)
	case succeed:
		obs.end(v1alpha1.JobSucceeded, "the evaluation has ended with exit code 0")
	case fail:
		obs.end(v1alpha1.JobFailed, problem)
	case miss:
		obs.end(v1alpha1.JobFailed, fmt.Sprintf("pods %q not found", obs.job.Name))
	case cancel:
		obs.end(v1alpha1.JobCancelledReason, "the job was cancelled")
	case rest, dismiss:
		if obs.status.CompleteTime == nil {
			obs.status.CompleteTime = &obs.now
		}
	case await:
	}
}

// take copies the report of the driver.
func (obs *Observation) take() {
	if r := obs.fetched.driver.Value; obs.fetched.driver.OK() {
		obs.status.Reason, obs.status.Message = r.Reason, conditions.Bound(r.Message)
		obs.status.Results, obs.status.ProgressBars = r.Results, r.ProgressBars
	}
}

// prepare checks whether the pod can be created.
func (obs *Observation) prepare() {
	obs.begin("")
	if problem := validate(&obs.job.Spec); problem != "" {
		obs.action = fail
		obs.end(v1alpha1.JobFailed, problem)
		return
	}
	if obs.fetched.claim.IsNotFound() {
		obs.action = await
		obs.begin("the claim " + ptr.Deref(obs.job.Spec.Outputs.PVCName, "") + " of spec.outputs.pvcName does not exist")
		return
	}
	if obs.images, obs.err = images.Resolve(obs.fetched.config, images.Evaluation, images.Driver); obs.err != nil {
		obs.begin(obs.err.Error())
	}
}

func (obs *Observation) begin(message string) {
	obs.status = v1alpha1.LMEvalJobStatus{State: v1alpha1.JobNew, Reason: v1alpha1.NoReason, Message: conditions.Bound(message)}
}

func (obs *Observation) end(reason v1alpha1.JobReason, message string) {
	obs.status.State, obs.status.Reason, obs.status.Message = v1alpha1.JobComplete, reason, conditions.Bound(message)
	obs.status.CompleteTime = &obs.now
}

// ObserveApply marks the job as scheduled when its pod was created. A pod that the API server refuses ends the job; after any other
// error the operator retries.
func (r Reconciler) ObserveApply(_ context.Context, _ rcontext, obs Observation, outcome reconcile.ApplyOutcome) Observation {
	if answer, known := r.drivers.Answer(outcome, keyOf(obs.fetched.pod.Value)); known && answer.HasError() {
		obs.status.CompleteTime = nil // until the driver answers
	}
	if obs.action != create || outcome.Blocked != nil {
		return obs
	}
	seen := obs.fetched.pod.Value != nil
	for i := range outcome.Objects {
		object := &outcome.Objects[i]
		if object.GVK.Kind != "Pod" || object.Key.Name != obs.job.Name {
			continue
		}
		var taken *apply.OwnedByAnotherError
		switch {
		case errors.As(object.Err, &taken) || apierrors.IsInvalid(object.Err):
			obs.action = collide
			obs.end(v1alpha1.JobFailed, object.Err.Error())
		case object.Err != nil:
			obs.begin(object.Err.Error())
		case object.Created() || seen:
			obs.status.State, obs.status.PodName, obs.status.LastScheduleTime = v1alpha1.JobScheduled, obs.job.Name, &obs.now
		}
	}
	return obs
}

// DecorateStatus writes the status, and emits the events of this reconciliation. The status of the product has no conditions.
func (Reconciler) DecorateStatus(
	status *v1alpha1.LMEvalJobStatus, cm *conditions.Manager, _ reconcile.StatusContext[*v1alpha1.LMEvalJob], obs Observation,
) {
	*status = obs.status
	if !obs.attached && !obs.refused {
		cm.MarkTrue("Finalizer", "Attached", "attached the finalizer", conditions.EventReason("AttachFinalizer"))
	}
	if obs.action == rest {
		return
	}
	if obs.queued != "" {
		cm.MarkTrue("Queued", "Created", "Created Workload: "+obs.job.Namespace+"/"+obs.queued, conditions.EventReason("CreatedWorkload"))
	}
	switch {
	case obs.action == miss:
		cm.MarkFalse("Pod", "Missing", status.Message, conditions.AsWarning, conditions.EventReason("PodMissing"))
	case status.State == v1alpha1.JobScheduled || status.State == v1alpha1.JobRunning:
		cm.MarkTrue("Pod", "Created", "created pod "+status.PodName, conditions.EventReason("PodCreation"))
	default:
		cm.MarkFalse("Pod", "None", "", conditions.Silent)
	}
	if status.State != v1alpha1.JobComplete {
		cm.MarkFalse("Completed", "Incomplete", "", conditions.Silent)
		return
	}
	if obs.action == cancel {
		cm.MarkTrue("Cancelled", "Asked", status.Message, conditions.EventReason("Cancelled"))
	}
	cm.MarkTrue("Completed", "Complete", "the job is complete: "+string(status.Reason), conditions.EventReason("JobCompleted"))
}
