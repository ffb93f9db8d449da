package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/reconcilekit/reconcilekit/examples/cronjob/api/v1"
)

const (
	// scheduledAt is the annotation of a Job with its scheduled time.
	scheduledAt = "cronjob.example.com/scheduled-at"
	// mostMissed is the maximum number of missed starts. More missed starts are an error.
	mostMissed = 100
)

type rcontext = reconcile.ReconcileContext[*v1.CronJob]

// observed contains the Jobs of a CronJob by state, and the time of the last one.
type observed struct {
	jobs                      reconcile.FetchResult[[]*batchv1.Job]
	active, succeeded, failed []*batchv1.Job
	last                      *metav1.Time
}

// GetComponentHealth returns no components: a running or failed Job is not a fault of its CronJob.
func (observed) GetComponentHealth(context.Context) []health.Component { return nil }

type reconciler struct{}

var (
	_ reconcile.Reconciler[*v1.CronJob, observed, observed]              = reconciler{}
	_ reconcile.StatusDecorator[v1.CronJobStatus, *v1.CronJob, observed] = reconciler{}
)

// declare declares that the controller owns and lists Jobs.
func declare(options controller.Options) *controller.Controller {
	return controller.New("cronjob", reconciler{}).Owns(&batchv1.Job{}, controller.Listed).Options(options).Build()
}

// FetchRemoteState lists the Jobs. It also uses the stored time of the last start, because its Job may be deleted.
func (reconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc rcontext) observed {
	o := observed{last: rc.Object.Status.LastScheduleTime}
	o.jobs = reconcile.FetchChildren[*batchv1.Job](ctx, r, rc.Object, &batchv1.JobList{})
	for _, job := range o.jobs.Value {
		switch finished(job) {
		case batchv1.JobComplete:
			o.succeeded = append(o.succeeded, job)
		case batchv1.JobFailed:
			o.failed = append(o.failed, job)
		default:
			o.active = append(o.active, job)
		}
		if due := dueTime(job); due != nil && (o.last == nil || o.last.Before(due)) {
			o.last = due
		}
	}
	return o
}

// finished returns the condition with which a Job has ended, or the empty string while it runs.
func finished(job *batchv1.Job) batchv1.JobConditionType {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// dueTime returns the scheduled time of a Job, or nil if a user has created it.
func dueTime(job *batchv1.Job) *metav1.Time {
	due, err := time.Parse(time.RFC3339, job.Annotations[scheduledAt])
	if err != nil {
		return nil
	}
	return &metav1.Time{Time: due}
}

// PlanResources deletes the oldest finished Jobs, and adds the Job that is due.
func (reconciler) PlanResources(_ context.Context, rc rcontext, o observed) (plan reconcile.PlanResult, _ error) {
	spec := rc.Object.Spec
	trim(&plan, rc.Object, o.succeeded, spec.SuccessfulJobsHistoryLimit)
	trim(&plan, rc.Object, o.failed, spec.FailedJobsHistoryLimit)
	if o.jobs.HasError() || spec.Suspend != nil && *spec.Suspend {
		return plan, o.jobs.Error
	}
	missed, next, err := starts(rc.Object, o.last, rc.Now)
	plan.RequeueAt = next
	switch {
	case err != nil || missed.IsZero():
		return plan, err
	case spec.ConcurrencyPolicy == v1.Forbid && len(o.active) > 0:
		rc.Log.Info("a Job is due and waits for those that run", "due", missed, "running", len(o.active))
		return plan, nil
	case spec.ConcurrencyPolicy == v1.Replace:
		for _, job := range o.active {
			plan.Delete(job)
		}
	}
	job := newJob(rc.Object, missed)
	plan.Apply(job, apply.History(), apply.Announce("SuccessfulCreate", "Created job "+job.Name))
	return plan, nil
}

// trim deletes the oldest Jobs beyond the limit. It keeps Jobs whose time is not stored yet, because they are the only record of the
// start after a restart.
func trim(plan *reconcile.PlanResult, owner *v1.CronJob, ended []*batchv1.Job, limit *int32) {
	if limit == nil {
		return
	}
	_, old := reconcile.Newest(ended, int(*limit))
	stored := owner.Status.LastScheduleTime
	for _, job := range old {
		if due := dueTime(job); due == nil || stored != nil && !stored.Before(due) {
			plan.Delete(job)
		} else {
			plan.RequeueAfter = time.Second // this reconciliation stores it
		}
	}
}

// starts returns the last missed start, zero for none, and the next one.
func starts(owner *v1.CronJob, last *metav1.Time, now time.Time) (missed, next time.Time, _ error) {
	invalid := func(reason, format string, args ...any) error {
		return health.NewError(
			health.InvalidSpec, reason, fmt.Sprintf("spec.schedule %q: ", owner.Spec.Schedule)+fmt.Sprintf(format, args...), nil,
		)
	}
	if zone, rest, _ := strings.Cut(owner.Spec.Schedule, " "); strings.Contains(zone, "TZ=") && rest == "" {
		return missed, next, invalid("InvalidSchedule", "want a schedule after the time zone")
	}
	schedule, err := cron.ParseStandard(owner.Spec.Schedule)
	if err != nil {
		return missed, next, invalid("InvalidSchedule", "%v", err)
	}
	if next = schedule.Next(now); next.IsZero() {
		return missed, next, invalid("InvalidSchedule", "this time never comes")
	}
	earliest := owner.CreationTimestamp.Time
	if last != nil {
		earliest = last.Time
	}
	if deadline := owner.Spec.StartingDeadlineSeconds; deadline != nil {
		if start := now.Add(-time.Duration(*deadline) * time.Second); start.After(earliest) {
			earliest = start
		}
	}
	count := 0
	for t := schedule.Next(earliest); !t.IsZero() && !t.After(now); t = schedule.Next(t) {
		missed = t
		if count++; count > mostMissed {
			return time.Time{}, next, invalid("TooManyMissedStarts",
				"more than %d starts were missed: set or decrease spec.startingDeadlineSeconds, or check the clock", mostMissed)
		}
	}
	return missed, next, nil
}

// newJob returns the Job for a scheduled time. The time is part of its name, so that each start has one Job.
func newJob(owner *v1.CronJob, due time.Time) *batchv1.Job {
	job := &batchv1.Job{Spec: *owner.Spec.JobTemplate.Spec.DeepCopy()}
	job.Namespace, job.Name = owner.Namespace, fmt.Sprintf("%s-%d", owner.Name, due.Unix())
	job.Labels = maps.Clone(owner.Spec.JobTemplate.Labels)
	job.Annotations = map[string]string{}
	maps.Copy(job.Annotations, owner.Spec.JobTemplate.Annotations)
	job.Annotations[scheduledAt] = due.Format(time.RFC3339)
	return job
}

// DecorateStatus reports the running Jobs and the time of the last one.
func (reconciler) DecorateStatus(status *v1.CronJobStatus, _ *conditions.Manager, _ reconcile.StatusContext[*v1.CronJob], o observed) {
	status.Active, status.LastScheduleTime = nil, o.last
	for _, job := range o.active {
		status.Active = append(status.Active, corev1.ObjectReference{
			APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID,
		})
	}
}
