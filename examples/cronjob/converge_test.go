package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/reconcilekit/reconcilekit/examples/cronjob/api/v1"
)

// TestConverges checks that Converge finds no fault: with failing requests, restarts and edits, a CronJob reaches its
// desired state.
func TestConverges(t *testing.T) {
	cron := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "backup"}, Spec: v1.CronJobSpec{Schedule: "0 0 1 1 *"}}
	cron.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox:1.37"}},
	}
	const seen = "which starts are forbidden depends on when the operator observes the change of the policy"
	reconciletest.Converge(t, reconciletest.System{
		Setup:    func(mgr ctrl.Manager) error { return declare(controller.Options{}).SetupWithManager(mgr) },
		Scheme:   env.Scheme,
		CRDPaths: []string{"config/crd"},
		Owners:   []client.Object{cron},
		Change:   func(o client.Object) { o.(*v1.CronJob).Spec.ConcurrencyPolicy = v1.Forbid },
		Accepted: []reconciletest.Acceptance{
			{Check: check.State, About: "events dropped", Reason: seen},
			{Check: check.State, About: "restart with the previous cache", Reason: seen},
			{Check: check.Orphan, About: "restart with the previous cache", Reason: seen},
		},
	})
}
