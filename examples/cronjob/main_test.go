package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/reconcilekit/reconcilekit/examples/cronjob/api/v1"
)

var env = &environment.Environment{
	CRDPaths: []string{"config/crd"}, Scheme: runtime.NewScheme(),
	Audit: true, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
}

func TestMain(m *testing.M) {
	if err := errors.Join(scheme.AddToScheme(env.Scheme), v1.AddToScheme(env.Scheme)); err != nil {
		panic(err)
	}
	ctrl.SetLogger(logr.Discard())
	os.Exit(env.Main(m))
}

// TestGenerated compares the page, the permissions and the installation with the declaration of the controller.
func TestGenerated(t *testing.T) {
	page, err := cronjobs().Page()
	if err != nil {
		t.Fatal(err)
	}
	files, err := install.Files(page, install.Config{CRDs: os.DirFS("config/crd")})
	if err != nil {
		t.Fatal(err)
	}
	lint.Generated(t, files)
}

// fixture is a namespace with one CronJob, and an operator whose clock the test sets.
type fixture struct {
	client.Client
	*testing.T
	cron   *v1.CronJob
	hour   time.Time // the hour in which the CronJob was created
	clock  *clocktesting.FakePassiveClock
	passes atomic.Int64
}

// PassDone implements reconcile.Observer, as do PhaseStart and PhaseDone.
func (w *fixture) PassDone(context.Context, reconcile.Report) { w.passes.Add(1) }

func (*fixture) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }

func (*fixture) PhaseDone(context.Context, reconcile.Phase, time.Duration, error) {}

// newFixture creates a CronJob with an hourly schedule.
func newFixture(t *testing.T, edit func(*v1.CronJobSpec)) *fixture {
	t.Helper()
	w := &fixture{Client: env.Client(), T: t, cron: &v1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: "backup"}}}
	w.cron.Spec.Schedule = "0 * * * *"
	w.cron.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox:1.37"}},
	}
	edit(&w.cron.Spec)
	if err := w.Create(t.Context(), w.cron); err != nil {
		t.Fatal(err)
	}
	w.hour = w.cron.CreationTimestamp.Truncate(time.Hour)
	w.clock = clocktesting.NewFakePassiveClock(w.cron.CreationTimestamp.Time)
	return w
}

// start runs the operator until the test ends or stop is called.
func (w *fixture) start(config *rest.Config, args ...string) (stop func()) {
	w.Helper()
	again, o := true, cronjobs()
	o.Config = config
	o.Manager = func(options *ctrl.Options) { options.Controller.SkipNameValidation = &again } // several operators run in this process, one after the other
	o.Controllers = []*controller.Controller{declare(controller.Options{Clock: w.clock, Observer: w})}
	args = append(args, "-health-probe-bind-address=0", "-namespaces="+w.cron.Namespace)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx, args, io.Discard, io.Discard) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.Errorf("the operator returned %v", err)
		}
	})
	w.Cleanup(stop)
	return stop
}

func (w *fixture) eventually(what string, done func() bool) {
	w.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("timed out after a minute waiting for %s; Jobs %v, status %+v", what, w.jobs(), w.status())
		}
	}
}

// at sets the clock to a time relative to the hour in which the CronJob was created, and waits until the operator is
// idle.
func (w *fixture) at(after time.Duration) {
	w.Helper()
	w.clock.SetTime(w.hour.Add(after))
	before := w.passes.Load()
	w.touch()
	w.eventually("a pass", func() bool { return w.passes.Load() > before })
	w.rest()
}

// touch changes an annotation of the CronJob, which triggers a reconciliation.
func (w *fixture) touch() {
	w.Helper()
	touched := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":%q}}}`, time.Now())
	if err := w.Patch(w.Context(), w.cron.DeepCopy(), client.RawPatch(types.MergePatchType, touched)); err != nil {
		w.Fatal(err)
	}
}

// rest waits until no reconciliation has run for 400ms.
func (w *fixture) rest() {
	w.Helper()
	for last := int64(-1); last != w.passes.Load(); time.Sleep(400 * time.Millisecond) {
		last = w.passes.Load()
	}
}

func (w *fixture) name(hours int) string {
	return fmt.Sprintf("backup-%d", w.hour.Add(time.Duration(hours)*time.Hour).Unix())
}

func (w *fixture) job(hours int) *batchv1.Job {
	w.Helper()
	job := &batchv1.Job{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.cron.Namespace, Name: w.name(hours)}, job); err != nil {
		w.Fatal(err)
	}
	return job
}

func (w *fixture) jobs() []string {
	w.Helper()
	var list batchv1.JobList
	if err := w.List(w.Context(), &list, client.InNamespace(w.cron.Namespace)); err != nil {
		w.Fatal(err)
	}
	names := []string{}
	for _, job := range list.Items {
		if job.DeletionTimestamp == nil {
			names = append(names, job.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (w *fixture) status() v1.CronJobStatus {
	w.Helper()
	stored := &v1.CronJob{}
	if err := w.Get(w.Context(), client.ObjectKeyFromObject(w.cron), stored); err != nil {
		w.Fatal(err)
	}
	return stored.Status
}

// wantJobs checks that exactly the Jobs of these hours exist.
func (w *fixture) wantJobs(hours ...int) {
	w.Helper()
	want := []string{}
	for _, hour := range hours {
		want = append(want, w.name(hour))
	}
	if diff := cmp.Diff(want, w.jobs()); diff != "" {
		w.Fatalf("Jobs (-want +got):\n%s", diff)
	}
}

// end finishes a Job as the Job controller does, and waits until the operator is idle.
func (w *fixture) end(hours int, how batchv1.JobConditionType) {
	w.Helper()
	job, now := w.job(hours), metav1.Now()
	before := batchv1.JobSuccessCriteriaMet
	job.Status = batchv1.JobStatus{
		StartTime: &now, CompletionTime: &now, Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
	}
	if how == batchv1.JobFailed {
		before = batchv1.JobFailureTarget
		job.Status = batchv1.JobStatus{StartTime: &now, Failed: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
	}
	for _, condition := range []batchv1.JobConditionType{before, how} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now, LastProbeTime: now,
		})
	}
	if err := w.Status().Update(w.Context(), job); err != nil {
		w.Fatal(err)
	}
	w.eventually("the Job is removed from the active list", func() bool {
		return !slices.ContainsFunc(w.status().Active, func(ref corev1.ObjectReference) bool { return ref.Name == job.Name })
	})
	w.rest()
}

func limits(succeeded, failed int32) func(*v1.CronJobSpec) {
	return func(spec *v1.CronJobSpec) {
		spec.SuccessfulJobsHistoryLimit, spec.FailedJobsHistoryLimit = &succeeded, &failed
	}
}

// TestSchedule checks that a due Job is created once, with its scheduled time, and that the status lists it while it
// runs.
func TestSchedule(t *testing.T) {
	w := newFixture(t, limits(3, 3))
	w.start(env.Config())
	w.at(59 * time.Minute)
	w.wantJobs()
	w.at(time.Hour + time.Minute)
	w.wantJobs(1)
	job := w.job(1)
	due := w.hour.Add(time.Hour)
	if !metav1.IsControlledBy(job, w.cron) || job.Annotations[scheduledAt] != due.Format(time.RFC3339) {
		t.Errorf("unexpected Job %+v", job.ObjectMeta)
	}
	status := w.status()
	if !status.LastScheduleTime.Time.Equal(due) || len(status.Active) != 1 || status.Active[0].UID != job.UID {
		t.Errorf("status %+v", status)
	}
	w.at(time.Hour + 2*time.Minute)
	w.wantJobs(1)
	w.at(2*time.Hour + time.Second) // both run: the policy is Allow
	w.wantJobs(1, 2)
	if active := w.status().Active; len(active) != 2 {
		t.Errorf("active %+v", active)
	}
	w.end(1, batchv1.JobComplete)
	w.wantJobs(1, 2)
	if active := w.status().Active; len(active) != 1 || active[0].Name != w.name(2) {
		t.Errorf("active %+v", active)
	}
}

// TestHistory checks that the newest finished Jobs are kept, with one limit for successful and one for failed Jobs, and
// that active Jobs are not deleted.
func TestHistory(t *testing.T) {
	w := newFixture(t, limits(1, 2))
	w.start(env.Config())
	ends := []batchv1.JobConditionType{
		batchv1.JobComplete, batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailed,
	}
	w.at(time.Hour)
	for hour := 2; hour <= len(ends)+1; hour++ {
		w.at(time.Duration(hour) * time.Hour)
		w.end(hour, ends[hour-2])
	}
	w.wantJobs(1, 5, 6, 7) // the first Job is still active
	w.end(1, batchv1.JobComplete)
	w.wantJobs(5, 6, 7)
}

// TestNoHistory checks that a deleted Job is not started again, not even after a restart of the operator.
func TestNoHistory(t *testing.T) {
	w := newFixture(t, limits(0, 0))
	stop := w.start(env.Config())
	w.at(time.Hour + time.Minute)
	w.end(1, batchv1.JobComplete)
	w.eventually("the Job is deleted", func() bool { return len(w.jobs()) == 0 })
	stop()
	w.start(env.Config())
	w.at(time.Hour + 5*time.Minute)
	w.wantJobs()
	w.at(2 * time.Hour)
	w.wantJobs(2)
}

// TestForbid checks that with policy Forbid a due Job waits until the active one ends.
func TestForbid(t *testing.T) {
	w := newFixture(t, func(spec *v1.CronJobSpec) { spec.ConcurrencyPolicy = v1.Forbid })
	w.start(env.Config())
	w.at(time.Hour)
	w.at(2 * time.Hour)
	w.wantJobs(1)
	w.end(1, batchv1.JobFailed)
	w.wantJobs(1, 2)
}

// TestReplace checks that with policy Replace a due Job replaces the active one.
func TestReplace(t *testing.T) {
	w := newFixture(t, func(spec *v1.CronJobSpec) { spec.ConcurrencyPolicy = v1.Replace })
	w.start(env.Config())
	w.at(time.Hour)
	w.at(2 * time.Hour)
	w.wantJobs(2)
}

// TestDeadline checks that a start missed by more than the deadline is skipped.
func TestDeadline(t *testing.T) {
	w := newFixture(t, func(spec *v1.CronJobSpec) { spec.StartingDeadlineSeconds = new(int64(60)) })
	w.start(env.Config())
	w.at(time.Hour + 2*time.Minute)
	w.wantJobs()
	w.at(2*time.Hour + 30*time.Second)
	w.wantJobs(2)
}

// TestSuspend checks that a suspended CronJob starts no Jobs and keeps the active ones.
func TestSuspend(t *testing.T) {
	w := newFixture(t, limits(1, 1))
	w.start(env.Config())
	w.at(time.Hour)
	if err := w.Patch(t.Context(), w.cron.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`))); err != nil {
		t.Fatal(err)
	}
	w.at(2 * time.Hour)
	w.wantJobs(1)
}

// TestTooManyMissed checks that more than a hundred missed starts are reported as an error with a remedy, and start no
// Job.
func TestTooManyMissed(t *testing.T) {
	w := newFixture(t, func(spec *v1.CronJobSpec) { spec.Schedule = "* * * * *" })
	w.start(env.Config())
	w.at(5 * time.Hour)
	w.wantJobs()
	w.eventually("the condition", func() bool {
		condition := meta.FindStatusCondition(w.status().Conditions, "Ready")
		return condition != nil && condition.Status == metav1.ConditionFalse && condition.Reason == "TooManyMissedStarts"
	})
}

// TestRestart checks that a restarted operator creates no Job twice, even if its predecessor could not store the
// schedule time, and that it starts the latest Job missed in the meantime.
func TestRestart(t *testing.T) {
	w := newFixture(t, limits(3, 3))
	stop := w.start(env.Config())
	w.at(time.Hour)
	w.wantJobs(1)
	first := w.job(1)
	stop()
	stored := &v1.CronJob{}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(w.cron), stored); err != nil {
		t.Fatal(err)
	}
	stored.Status = v1.CronJobStatus{}
	if err := w.Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	stop = w.start(env.Config())
	w.at(time.Hour + time.Minute)
	w.wantJobs(1)
	if w.job(1).UID != first.UID || !w.status().LastScheduleTime.Time.Equal(w.hour.Add(time.Hour)) {
		t.Errorf("the Job was recreated, or the status has no schedule time: %+v", w.status())
	}
	stop()
	w.clock.SetTime(w.hour.Add(4*time.Hour + time.Minute))
	w.start(env.Config()) // reconciles without a change of the CronJob
	w.eventually("the missed Job", func() bool { return len(w.jobs()) == 2 })
	w.rest()
	w.wantJobs(1, 4)
}
