package evalhub

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// TestPodFailure checks that the operator reports exactly the failures that the adapter in the pod cannot report.
func TestPodFailure(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	terminated := func(reason string, code int32) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code, Message: "m"}}
	}
	waits := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "m"}}
	}
	for _, tt := range []struct {
		container string
		state     corev1.ContainerState
		want      string
	}{
		{"adapter", terminated("OOMKilled", 137), "adapter: terminated reason=OOMKilled exitCode=137 message=m"},
		{"adapter", terminated("Error", 1), ""},
		{"sidecar", terminated("Error", 1), "sidecar: terminated reason=Error exitCode=1 message=m"},
		{"sidecar", terminated("Completed", 0), ""},
		{"init", terminated("ContainerCannotRun", 127), "init: terminated reason=ContainerCannotRun exitCode=127 message=m"},
		{"adapter", waits("ImagePullBackOff"), "adapter: waiting reason=ImagePullBackOff message=m"},
		{"adapter", waits("ContainerCreating"), ""},
		{"other", terminated("OOMKilled", 137), ""},
	} {
		pod := &corev1.Pod{}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: tt.container, State: tt.state}}
		if got, wait := podFailure(pod, now); got != tt.want || wait != 0 {
			t.Errorf("%s %+v: got %q and %s, want %q", tt.container, tt.state, got, wait, tt.want)
		}
	}
	pod := &corev1.Pod{}
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.NewTime(now),
	}}
	if text, wait := podFailure(pod, now.Add(time.Minute)); text != "" || wait != time.Minute {
		t.Errorf("within the grace period: got %q and %s", text, wait)
	}
	if text, wait := podFailure(pod, now.Add(grace)); text != "pod unschedulable" || wait != 0 {
		t.Errorf("after the grace period: got %q and %s", text, wait)
	}
}

// TestReporter checks that a report counts as delivered when the hub confirms it, and that the first of a list of
// benchmarks has no index.
func TestReporter(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	var body map[string]map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body = nil
		_ = json.NewDecoder(request.Body).Decode(&body)
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(server.Close)
	r := newReporter()
	what, complete := reportOf(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		"job_id": "j", "provider_id": "p", "benchmark_id": "b", "benchmark_index": "0",
	}}}, "m")
	what.url = server.URL
	if !complete {
		t.Error("all labels exist")
	}
	for _, step := range []struct {
		status  int32
		arrives bool
	}{{500, false}, {404, false}, {302, false}, {200, true}} {
		status.Store(step.status)
		if arrived, err := r.Ensure(t.Context(), "k", what); arrived != step.arrives || (err == nil) != step.arrives {
			t.Errorf("status %d: got %t and %v", step.status, arrived, err)
		}
		if _, err := r.Observe(t.Context(), "k"); (err == nil) != step.arrives {
			t.Errorf("status %d: observed with %v", step.status, err)
		}
	}
	if _, has := body["benchmark_status_event"]["benchmark_index"]; has || body["benchmark_status_event"]["id"] != "b" {
		t.Errorf("got %v", body)
	}
	if err := r.Remove(t.Context(), "k"); err != nil {
		t.Error(err)
	}
	if _, err := r.Observe(t.Context(), "k"); err == nil {
		t.Error("the report is never removed from memory")
	}
	if _, complete := reportOf(&batchv1.Job{}, "m"); complete {
		t.Error("a Job without labels is not an evaluation")
	}
}

// TestQueueCode checks that the code is gpu_unavailable only if the Job requests GPUs and the message of the queue names
// them.
func TestQueueCode(t *testing.T) {
	t.Parallel()
	pod := func(resource corev1.ResourceName) *corev1.PodSpec {
		limits := corev1.ResourceList{resource: {}}
		return &corev1.PodSpec{InitContainers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: limits}}}}
	}
	for _, tt := range []struct {
		resource      corev1.ResourceName
		message, want string
	}{
		{"nvidia.com/gpu", "insufficient quota for nvidia.com/gpu in flavor default", "gpu_unavailable"},
		{"nvidia.com/gpu", "insufficient quota for cpu", "queue_error"},
		{"nvidia.com/gpu", "no gpu", "queue_error"},
		{"cpu", "insufficient quota for nvidia.com/gpu", "queue_error"},
	} {
		if got, _ := queueCode(pod(tt.resource), tt.message); got != tt.want {
			t.Errorf("%s and %q: got %s, want %s", tt.resource, tt.message, got, tt.want)
		}
	}
}

// TestPlanReports checks that a report is sent until the hub has it, that the Job is then annotated, and that only an
// annotated Job is deleted. A restarted process sends the report again only if the annotation is missing.
func TestPlanReports(t *testing.T) {
	t.Parallel()
	hub := &v1.EvalHub{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hub"}, Status: v1.EvalHubStatus{Ready: "True", URL: "http://hub"}}
	labels := map[string]string{"job_id": "1", "provider_id": "p", "benchmark_id": "b"}
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", OwnerReferences: []metav1.OwnerReference{{UID: "1"}}}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "adapter", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137},
	}}}
	mark := map[string]string{reportedAnnotation: "true"}
	for name, c := range map[string]struct {
		arrived     bool
		annotations map[string]string
		pods        []corev1.Pod
		want        string
	}{
		"well":                            {},
		"failed":                          {pods: []corev1.Pod{pod}, want: "send"},
		"arrived":                         {arrived: true, pods: []corev1.Pod{pod}, want: "mark send"},
		"marked":                          {arrived: true, annotations: mark, pods: []corev1.Pod{pod}, want: "delete"},
		"restarted, not annotated":        {pods: []corev1.Pod{pod}, want: "send"},
		"restarted, annotated":            {annotations: mark, pods: []corev1.Pod{pod}, want: "delete"},
		"annotated, its pods are deleted": {annotations: mark, want: "delete"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := run{job: batchv1.Job{ObjectMeta: metav1.ObjectMeta{
				Namespace: "t", Name: "job", UID: "1", Labels: labels, Annotations: c.annotations,
			}}}
			one.arrived, one.pods.Value = c.arrived, &corev1.PodList{Items: c.pods}
			obs := Observation{hub: hub}
			obs.fetched.runs = []run{one}
			var plan reconcile.PlanResult
			Reconciler{reports: reportKind(newReporter())}.planReports(&plan, obs, time.Unix(1000, 0))
			var got []string
			for _, child := range plan.Children {
				if job, ok := child.Object.(*batchv1.Job); ok && job.Annotations[reportedAnnotation] == "true" {
					got = append(got, "mark")
				} else {
					got = append(got, "send")
				}
			}
			for range plan.Deletes {
				got = append(got, "delete")
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

// TestReportings checks that no Job is deleted before the hub has its failure, and that no failure is reported twice.
func TestReportings(t *testing.T) {
	t.Parallel()
	if err := reportings.Check(); err != nil {
		t.Error(err)
	}
	for _, known := range reportings.States {
		for _, seen := range reportings.Facts {
			switch action := reportings.Action(known, seen); {
			case action == remove && (known == unreported || known == arrived):
				t.Errorf("%s, %s: the Job is deleted without the annotation that the hub has the report", known, seen)
			case action == send && (known != unreported || seen != failing):
				t.Errorf("%s, %s: reported", known, seen)
			}
		}
	}
}
