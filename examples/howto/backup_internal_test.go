package howto

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cronjob "github.com/reconcilekit/reconcilekit/examples/cronjob/api/v1"
	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

// nights sets the time of the first run in CronJobs, as their controller does after the first night.
func nights(ctx context.Context, c client.Client) error {
	var all cronjob.CronJobList
	if err := c.List(ctx, &all); err != nil {
		return err
	}
	for i := range all.Items {
		if backup := &all.Items[i]; backup.Status.LastScheduleTime == nil {
			backup.Status.LastScheduleTime = &metav1.Time{Time: metav1.Unix(1, 0).Time}
			if err := c.Status().Update(ctx, backup); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestBackupsConverge checks that a website becomes ready when its CronJob has run once.
func TestBackupsConverge(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientscheme.AddToScheme(scheme), v1.AddToScheme(scheme), cronjob.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	reconciletest.Converge(t, reconciletest.System{
		Setup:    func(mgr ctrl.Manager) error { return backups().SetupWithManager(mgr) },
		Scheme:   scheme,
		CRDPaths: []string{"../quickstart/config/crd", "../cronjob/config/crd"},
		Owners:   []client.Object{&v1.Website{ObjectMeta: metav1.ObjectMeta{Name: "site"}, Spec: v1.WebsiteSpec{Text: "hello"}}},
		Change:   func(o client.Object) { o.(*v1.Website).Spec.Text = again },
		StandIns: []reconciletest.StandIn{nights},
		Cases:    20,
	})
}

func TestInspectBackup(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status cronjob.CronJobStatus
		want   health.State
	}{
		"New":      {want: health.Pending},
		"BackedUp": {status: cronjob.CronJobStatus{LastScheduleTime: &metav1.Time{}}, want: health.Ready},
	} {
		found := inspectBackup(&cronjob.CronJob{Status: tc.status})
		if diff := cmp.Diff(tc.want, found.GetState()); diff != "" {
			t.Errorf("%s: state (-want +got):\n%s", name, diff)
		}
	}
}
