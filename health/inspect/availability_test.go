package inspect_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
)

func TestAvailability(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	deployment := func(unavailable int32, pairs ...string) *appsv1.Deployment {
		d := &appsv1.Deployment{Status: appsv1.DeploymentStatus{UnavailableReplicas: unavailable}}
		for i := 0; i < len(pairs); i += 2 {
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
				Type: appsv1.DeploymentConditionType(pairs[i]), Status: corev1.ConditionStatus(pairs[i+1]),
				Message: pairs[i] + " says", LastTransitionTime: metav1.NewTime(now.Add(-3 * time.Second)),
			})
		}
		return d
	}
	going := deployment(0, "Available", "True")
	going.DeletionTimestamp = new(metav1.NewTime(now))
	pod := func(name string, containers ...corev1.ContainerStatus) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{
			ContainerStatuses: containers,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "R", Message: "m"}},
		}}
	}
	waiting := corev1.ContainerStatus{Name: "b", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "W", Message: "w"}}}
	ended := corev1.ContainerStatus{Name: "a", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "E", Message: "e"}}}
	serving := corev1.ContainerStatus{Name: "c", Ready: true}
	for name, test := range map[string]struct {
		in      inspect.Availability
		state   health.State
		reason  string
		message string
		delay   time.Duration
	}{
		"NoDeployment": {inspect.Availability{}, health.Progressing, "DeploymentUnavailable", "Deployment not found", 0},
		"Says": {
			inspect.Availability{Deployment: deployment(0, "Available", "False"), Endpoints: 1},
			health.NotAvailable, "DeploymentUnavailable", "Deployment is unavailable: Available says", 0,
		},
		"SaysNothing": {
			inspect.Availability{Deployment: deployment(0), Endpoints: 1},
			health.NotAvailable, "DeploymentUnavailable", "Deployment is unavailable: ", 0,
		},
		"Deleted": {
			inspect.Availability{Deployment: going, Endpoints: 1, Now: now},
			health.NotAvailable, "DeploymentUnavailable", "Deployment is unavailable: it is being deleted", 0,
		},
		"ReplicaFailureFirst": {
			inspect.Availability{Deployment: deployment(0, "Available", "True", "Progressing", "False", "ReplicaFailure", "True"), Endpoints: 1},
			health.NotAvailable, "DeploymentUnavailable", "Deployment is unavailable: ReplicaFailure says", 0,
		},
		"StuckRollout": {
			inspect.Availability{Deployment: deployment(0, "Available", "True", "Progressing", "False"), Endpoints: 1},
			health.NotAvailable, "DeploymentUnavailable", "Deployment is unavailable: Progressing says", 0,
		},
		"Counts": {
			inspect.Availability{Deployment: deployment(2, "Available", "False")},
			health.NotAvailable, "DeploymentUnavailable", "Deployment is unavailable: 2 containers unavailable", 0,
		},
		"Containers": {
			inspect.Availability{Deployment: deployment(2, "Available", "False"), Pods: []corev1.Pod{pod("z"), pod("p", waiting, serving, ended)}},
			health.NotAvailable, "DeploymentUnavailable",
			"Deployment is unavailable: pod p has unready containers [a: {terminated: {reason: E, message: e}}, b: {waiting: {reason: W, message: w}}]", 0,
		},
		"PodNotReady": {
			inspect.Availability{Deployment: deployment(2, "Available", "False"), Pods: []corev1.Pod{pod("p", serving)}},
			health.NotAvailable, "DeploymentUnavailable", "Deployment is unavailable: pod p containers not ready: {reason: R, message: m}", 0,
		},
		"NoEndpoints": {
			inspect.Availability{Deployment: deployment(0, "Available", "True"), EndpointsErr: errors.New("gone")},
			health.NotAvailable, "DeploymentUnavailable", "Service endpoints not found: gone", 0,
		},
		"NoAddress": {
			inspect.Availability{Deployment: deployment(0, "Available", "True")},
			health.NotAvailable, "DeploymentUnavailable", "Service endpoints not ready - no ready addresses available", 0,
		},
		"TooYoung": {
			inspect.Availability{Deployment: deployment(0, "Available", "True"), Endpoints: 1, MinAge: 5 * time.Second, Now: now},
			health.Starting, "DeploymentCooldown", "Deployment only recently available", 2 * time.Second,
		},
		"Available": {
			inspect.Availability{Deployment: deployment(1, "Available", "True"), Endpoints: 1, MinAge: 3 * time.Second, Now: now},
			health.Ready, "DeploymentAvailable", "Deployment is available", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, delay := test.in.Component()
			got := []any{c.GetState(), c.GetReason(), c.GetMessage(), delay}
			want := []any{test.state, test.reason, test.message, test.delay}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("state, reason, message, delay (-want +got):\n%s", diff)
			}
		})
	}
}
