package inspect

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// job inspects a Job: a complete one is ready; a failed one is InvalidSpec unless it was evicted; a suspended one is Pending. A Job that
// is ending is Progressing until its pods are deleted, and one that is being deleted is never ready. Nil is a missing downstream
// dependency. See https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup.
func job(j *batchv1.Job) health.Component {
	if j == nil {
		return missing("JobNotFound", "Job")
	}
	message, suspended := "Job is in progress", false
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			if j.DeletionTimestamp == nil {
				return ready("JobComplete", "Job is complete")
			}
		case batchv1.JobFailed:
			return failedJob(c.Reason, c.Message)
		case batchv1.JobSuspended:
			suspended = true
		case batchv1.JobFailureTarget:
			message = "Job is failing, its pods are terminating: " + c.Message
		case batchv1.JobSuccessCriteriaMet:
			message = "Job is completing, its pods are terminating"
		}
	}
	if j.DeletionTimestamp != nil {
		return terminating("Job")
	}
	if suspended {
		return health.Component{State: health.Pending, Reason: "JobSuspended", Message: "Job is suspended"}
	}
	return progressing("JobRunning", message)
}

// failedJob categorises the reason of a Job's Failed condition.
func failedJob(reason, message string) health.Component {
	if message == "" {
		message = "Job failed"
	}
	switch reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		return broken(health.InvalidSpec, "JobBackoffLimitExceeded", message)
	case batchv1.JobReasonDeadlineExceeded:
		return broken(health.InvalidSpec, "JobDeadlineExceeded", message)
	case "Evicted":
		return broken(health.Infrastructure, "JobEvicted", message)
	}
	return broken(health.InvalidSpec, "JobFailed", message)
}
