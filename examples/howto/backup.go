package howto

import (
	"context"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cronjob "github.com/reconcilekit/reconcilekit/examples/cronjob/api/v1"
)

// backups declares a controller that backs up websites each night.
func backups() *controller.Controller {
	return controller.Func("website-backup", planBackup).
		Owns(&cronjob.CronJob{}, controller.Inspector(inspectBackup)).Build()
}

// inspectBackup reports a CronJob of examples/cronjob, which has no conditions, as ready when it has created a Job.
func inspectBackup(backup *cronjob.CronJob) health.Component {
	if backup.Status.LastScheduleTime == nil {
		return health.Component{State: health.Pending, Reason: "NoBackup", Message: "no backup yet: the first one runs at night"}
	}
	return health.Component{State: health.Ready, Reason: "BackedUp"}
}

// planBackup plans the CronJob.
func planBackup(_ context.Context, rc rcontext) (plan reconcile.PlanResult, _ error) {
	run := job(rc.Object, "backup", rc.Object.Spec.Text)
	plan.Apply(&cronjob.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name},
		Spec: cronjob.CronJobSpec{
			Schedule: "0 3 * * *",
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
				Spec: run.Spec.Template.Spec,
			}}},
		},
	})
	return plan, nil
}
