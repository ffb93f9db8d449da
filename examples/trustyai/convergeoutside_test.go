package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/evalhub"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/jobmgr"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/lmes"
)

// unreliable is an external system that fails at first: some calls do not arrive, others lose their response.
type unreliable struct {
	mu    sync.Mutex
	calls int
}

var errAway = errors.New("connection refused")

// fault returns how the next call fails.
func (u *unreliable) fault() (away, lost bool) {
	const kinds, last = 3, 9
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls++
	if u.calls > last {
		return false, false
	}
	return u.calls%kinds == 1, u.calls%kinds == 2
}

// hubs receives the reports of failures.
type hubs struct {
	unreliable
	t        *testing.T
	starts   int            // starts of the operator
	arrived  map[string]int // number of reports of each evaluation
	reported map[string]int // number of reports whose response was delivered
}

// RoundTrip implements http.RoundTripper.
func (h *hubs) RoundTrip(request *http.Request) (*http.Response, error) {
	away, lost := h.fault()
	if away {
		return nil, errAway
	}
	body, _ := io.ReadAll(request.Body)
	if !json.Valid(body) {
		h.t.Errorf("a report is not JSON: %s", body)
	}
	id := strings.Split(strings.TrimPrefix(request.URL.Path, "/api/v1/evaluations/jobs/"), "/")[0]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.arrived[id]++
	if lost {
		return nil, errAway
	}
	h.reported[id]++
	if h.reported[id] > h.starts {
		h.t.Errorf("the failure of %s was reported %d times, with %d starts of the operator; want one report, and at most one more after each restart",
			id, h.reported[id], h.starts)
	}
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: request}, nil
}

// reports returns true if a report of the evaluation has arrived.
func (h *hubs) reports(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.arrived[id] > 0
}

const (
	marked      = "trustyai.opendatahub.io/evalhub-failure-reported"
	queueMarked = "trustyai.opendatahub.io/evalhub-kueue-failed-workload-reported"
)

// evaluation returns a Job of a hub in the namespace of a tenant.
func evaluation(id string) *batchv1.Job {
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "adapter", Image: "a"}},
	}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: id}, Spec: batchv1.JobSpec{Template: pod}}
	job.Labels = map[string]string{
		"app": "evalhub", "component": "evaluation-job", "evalhub_instance_name": "hub", "evalhub_instance_namespace": "default",
		"job_id": id, "provider_id": "p", "benchmark_id": "b",
	}
	return job
}

// reporting returns a system with the operator and a hub that receives reports; the stand-in makes the evaluation fail.
func reporting(t *testing.T, fails func(context.Context, client.Client, *batchv1.Job) error) reconciletest.System {
	t.Helper()
	s := system(t, "EVALHUB", func(o client.Object) { o.(*v1.EvalHub).Spec.Replicas = new(int32(2)) },
		&v1.EvalHub{ObjectMeta: metav1.ObjectMeta{Name: "hub"}, Spec: v1.EvalHubSpec{Tenancy: v1.MultiTenancy, EvalHubBase: v1.EvalHubBase{
			Database: &v1.Database{Type: "sqlite"}, Providers: []string{}, Collections: []string{},
		}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant", Labels: map[string]string{"evalhub.trustyai.opendatahub.io/tenant": ""}}},
		evaluation("jid"),
	)
	s.Outside = func() any { return &hubs{t: t, arrived: map[string]int{}, reported: map[string]int{}} }
	s.Setup = func(mgr ctrl.Manager) error {
		h := reconciletest.OutsideOf(mgr).(*hubs)
		h.mu.Lock()
		h.starts++
		h.mu.Unlock()
		hub := evalhub.New(types.NamespacedName{Namespace: "default", Name: images.ConfigMap}, evalhub.Tenants{All: true})
		hub.Client = &http.Client{Transport: h}
		return errors.Join(hub.SetupWithManager(mgr), evalhub.NewTenants(evalhub.Tenants{All: true}).SetupWithManager(mgr))
	}
	s.StandIns = []reconciletest.StandIn{reconciletest.DeploymentsAvailable, func(ctx context.Context, c client.Client) error {
		job := &batchv1.Job{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "tenant", Name: "jid"}, job); err != nil || job.DeletionTimestamp != nil {
			return client.IgnoreNotFound(err)
		}
		if job.Annotations[marked] == "true" && !reconciletest.OutsideFrom(ctx).(*hubs).reports("jid") {
			t.Error("the Job is annotated, but its hub received no report")
		}
		return fails(ctx, c, job)
	}}
	s.Accepted = append(twoHubs(), reconciletest.Acceptance{
		About: "deletes Job.batch tenant/jid while a read fails", Reason: "the annotation, which was read, causes the deletion, not the failed read",
	}, reconciletest.Acceptance{
		About: "the run without faults ends without Job.batch tenant/jid", Reason: "a hub that is deleted before it was ready receives no report",
	}, reconciletest.Acceptance{
		About: "annotations: want {\"" + queueMarked + "\":\"true\"}, got none", Reason: "a hub that is deleted before it was ready receives no report",
	}, reconciletest.Acceptance{
		Check: check.Ready, About: " tenant/", Reason: "a hub is ready when its Deployment is; the tenant reports rejections",
	}, reconciletest.Acceptance{
		Check: check.Status, About: " tenant/", Reason: "a hub is ready when its Deployment is; an evaluation can follow later",
	})
	return s
}

func ownedBy(job *batchv1.Job) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
}

// TestFailureConverges checks that a failure that only the operator observes is reported to the hub at most once for
// each start of the operator, and that the Job is then deleted.
func TestFailureConverges(t *testing.T) {
	t.Parallel()
	s := reporting(t, func(ctx context.Context, c client.Client, job *batchv1.Job) error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "jid-1", OwnerReferences: ownedBy(job)},
			Spec:       job.Spec.Template.Spec,
		}
		pod.Labels = map[string]string{batchv1.JobNameLabel: job.Name}
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err == nil || client.IgnoreNotFound(err) != nil {
			return err
		}
		if err := c.Create(ctx, pod); err != nil {
			return err
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "adapter", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
		}}
		return c.Status().Update(ctx, pod)
	})
	reconciletest.Converge(t, s)
}

// TestQueueFailureConverges checks that an evaluation that the queue does not admit is reported to the hub at most once
// for each start of the operator, and that the Job is kept.
func TestQueueFailureConverges(t *testing.T) {
	t.Parallel()
	s := reporting(t, func(ctx context.Context, c client.Client, job *batchv1.Job) error {
		workload := &foreign.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "wl", OwnerReferences: ownedBy(job)}}
		err := c.Get(ctx, client.ObjectKeyFromObject(workload), workload)
		if err == nil && workload.Annotations[queueMarked] == "true" && !reconciletest.OutsideFrom(ctx).(*hubs).reports("jid") {
			t.Error("the workload is annotated, but the hub received no report")
		}
		if err == nil || client.IgnoreNotFound(err) != nil {
			return err
		}
		if err := c.Create(ctx, workload); err != nil {
			return err
		}
		workload.Status.Conditions = []metav1.Condition{{
			Type: "QuotaReserved", Status: metav1.ConditionFalse, Reason: "Inadmissible", Message: "LocalQueue q is missing",
			LastTransitionTime: metav1.Now(),
		}}
		return c.Status().Update(ctx, workload)
	})
	reconciletest.Converge(t, s)
}

// evaluators fakes the drivers in the pods: each reports that its evaluation has ended after it was asked twice.
type evaluators struct {
	unreliable
	asked, stopped int
}

// execute replaces lmes.Controller.Execute.
func (e *evaluators) execute(_ context.Context, _, _ string, command ...string) ([]byte, error) {
	away, lost := e.fault()
	if away {
		return nil, errAway
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if command[len(command)-1] == "--shutdown" {
		e.stopped++
	} else {
		e.asked++
	}
	if lost {
		return nil, errAway
	}
	state := v1alpha1.JobRunning
	if e.asked > 1 {
		state = v1alpha1.JobComplete
	}
	return fmt.Appendf(nil, `{"state":%q,"reason":"Succeeded","results":"{}"}`, state), nil
}

// queue stands in for Kueue: it admits a job, evicts it once, and admits it again. The stored objects determine the next
// step.
func queue(ctx context.Context, c client.Client) error {
	var workloads kueue.WorkloadList
	var pods corev1.PodList
	if err := errors.Join(c.List(ctx, &workloads), c.List(ctx, &pods)); err != nil {
		return err
	}
	for i := range workloads.Items {
		w := &workloads.Items[i]
		requeued := w.Is(kueue.Requeued)
		decision := func(admitted, evicted metav1.ConditionStatus) error {
			for kind, status := range map[string]metav1.ConditionStatus{kueue.QuotaReserved: admitted, kueue.Admitted: admitted, kueue.Evicted: evicted} {
				meta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: "Test"})
			}
			w.Status.Admission = &kueue.Admission{
				ClusterQueue: "cq", Assignments: []kueue.Assignment{{Name: "job", Flavors: map[string]string{"cpu": "fast"}}},
			}
			return c.Status().Update(ctx, w, client.FieldOwner("kueue"))
		}
		var err error
		switch {
		case w.DeletionTimestamp != nil || w.Is(kueue.Finished):
		case !w.Is(kueue.Admitted) && (requeued || !w.Is(kueue.Evicted)):
			err = decision(metav1.ConditionTrue, metav1.ConditionFalse)
		case w.Is(kueue.Admitted) && !requeued && running(pods.Items):
			err = decision(metav1.ConditionTrue, metav1.ConditionTrue)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func running(pods []corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
}

// kubelet runs the pods of evaluations.
func kubelet(ctx context.Context, c client.Client) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		return err
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; len(pod.Status.ContainerStatuses) == 0 && pod.DeletionTimestamp == nil {
			pod.Status.Phase = corev1.PodRunning
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			}}
			if err := c.Status().Update(ctx, pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestQueuedJobConverges checks a job that waits in a queue, runs, is evicted, runs again and ends, with faults in the
// requests for its workload and for the driver in its pod.
func TestQueuedJobConverges(t *testing.T) {
	t.Parallel()
	job := &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{
		Name: "job", Labels: map[string]string{kueue.QueueLabel: "q"},
	}, Spec: v1alpha1.LMEvalJobSpec{
		Model: "hf", TaskList: v1alpha1.TaskList{TaskNames: []v1alpha1.TaskName{"task1"}},
	}}
	s := system(t, "LMES", func(o client.Object) { o.(*v1alpha1.LMEvalJob).Spec.Limit = "5" }, job,
		&kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Spec: kueue.FlavorSpec{NodeLabels: map[string]string{"speed": "high"}}})
	s.Outside = func() any { return &evaluators{} }
	s.Setup = func(mgr ctrl.Manager) error {
		jobs := lmes.New(types.NamespacedName{Namespace: "default", Name: images.ConfigMap}, true)
		jobs.Execute = reconciletest.OutsideOf(mgr).(*evaluators).execute
		return errors.Join(jobs.SetupWithManager(mgr), jobmgr.New().SetupWithManager(mgr))
	}
	s.StandIns = []reconciletest.StandIn{queue, kubelet}
	normalise := s.Normalise
	s.Normalise = func(o *unstructured.Unstructured) {
		normalise(o)
		if o.GetKind() != "Workload" {
			return
		}
		all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		all = slices.DeleteFunc(all, func(c any) bool { // the other conditions depend on the number of evictions
			return c.(map[string]any)["type"] != kueue.Finished
		})
		_ = unstructured.SetNestedSlice(o.Object, all, "status", "conditions")
	}
	s.Accepted = []reconciletest.Acceptance{
		{Check: check.State, About: "422 always of create pods", Reason: "a job whose pod is rejected as invalid has failed"},
		{Check: check.State, About: "422 several times of create pods", Reason: "a job whose pod is rejected as invalid has failed"},
	}
	reconciletest.Converge(t, s)
}
