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
	// scheduledAt is the annotation of a Job with the time at which it was due.
	scheduledAt = "cronjob.example.com/scheduled-at"
	// mostMissed is how many starts may have been missed before something is thought to be wrong.
	mostMissed = 100
)

type pass = reconcile.ReconcileContext[*v1.CronJob]

// observed is the Jobs of a CronJob by how they are, and when the last one was due.
type observed struct {
	jobs                      reconcile.FetchResult[[]*batchv1.Job]
	active, succeeded, failed []*batchv1.Job
	last                      *metav1.Time
}

// GetComponentHealth reports none: a Job that runs, or has failed, is no fault of its CronJob.
func (observed) GetComponentHealth(context.Context) []health.Component { return nil }

type reconciler struct{}

var (
	_ reconcile.Reconciler[*v1.CronJob, observed, observed]              = reconciler{}
	_ reconcile.StatusDecorator[v1.CronJobStatus, *v1.CronJob, observed] = reconciler{}
)

// declare reports what the controller owns: Jobs, which it lists as well.
func declare(options controller.Options) *controller.Controller {
	return controller.New("cronjob", reconciler{}).Owns(&batchv1.Job{}, controller.Listed).Options(options).Build()
}

// FetchRemoteState lists the Jobs. What was stored about the last start counts as well: its Job may be gone.
func (reconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc pass) observed {
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

// finished returns how a Job has ended, and nothing while it runs.
func finished(job *batchv1.Job) batchv1.JobConditionType {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// dueTime is when a Job was due; nil for one that was made by hand.
func dueTime(job *batchv1.Job) *metav1.Time {
	due, err := time.Parse(time.RFC3339, job.Annotations[scheduledAt])
	if err != nil {
		return nil
	}
	return &metav1.Time{Time: due}
}

// PlanResources keeps all Jobs but the oldest of those that have ended, and adds the one that is due.
func (reconciler) PlanResources(_ context.Context, rc pass, o observed) (plan reconcile.PlanResult, _ error) {
	spec := rc.Object.Spec
	plan.KeepKind(batchv1.SchemeGroupVersion.WithKind("Job"))
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
	plan.Apply(job, apply.Once, apply.Announce("SuccessfulCreate", "Created job "+job.Name))
	return plan, nil
}

// trim deletes the oldest Jobs over the limit. Those whose time is not stored yet stay: after a restart they say what was started.
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
			plan.RequeueAfter = time.Second // this pass stores it
		}
	}
}

// starts returns the last start that was missed, zero for none, and the next one.
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

// newJob is the Job that is due at a time. Its name is that of the time, so that no start makes two.
func newJob(owner *v1.CronJob, due time.Time) *batchv1.Job {
	job := &batchv1.Job{Spec: *owner.Spec.JobTemplate.Spec.DeepCopy()}
	job.Namespace, job.Name = owner.Namespace, fmt.Sprintf("%s-%d", owner.Name, due.Unix())
	job.Labels = maps.Clone(owner.Spec.JobTemplate.Labels)
	job.Annotations = map[string]string{}
	maps.Copy(job.Annotations, owner.Spec.JobTemplate.Annotations)
	job.Annotations[scheduledAt] = due.Format(time.RFC3339)
	return job
}

// DecorateStatus says which Jobs run and when the last one was due.
func (reconciler) DecorateStatus(status *v1.CronJobStatus, _ *conditions.Manager, _ reconcile.StatusContext[*v1.CronJob], o observed) {
	status.Active, status.LastScheduleTime = nil, o.last
	for _, job := range o.active {
		status.Active = append(status.Active, corev1.ObjectReference{
			APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID,
		})
	}
}
