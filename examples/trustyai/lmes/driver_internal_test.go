package lmes

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestDrivers checks the commands sent to a driver in its pod. A driver that does not respond, or whose response is
// unreadable, does not fail a reconciliation that depends only on the pod.
func TestDrivers(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job", UID: "1"}}
	var ran []string
	answer, failure := `{"state":"Complete","reason":"Succeeded","results":"{}","progressBars":[{"message":"all","percent":"100%"}]}`, error(nil)
	d := &drivers{run: func(_ context.Context, namespace, pod string, command ...string) ([]byte, error) {
		ran = append(ran, namespace+" "+pod+" "+strings.Join(command, " "))
		return []byte(answer), failure
	}}
	got, err := d.Observe(t.Context(), keyOf(pod))
	want := progress{
		State: v1alpha1.JobComplete, Reason: v1alpha1.JobSucceeded, Results: "{}",
		ProgressBars: []v1alpha1.ProgressBar{{Message: "all", Percent: "100%"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := d.Ensure(t.Context(), keyOf(pod), struct{}{}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"ns job " + driver + " --get-status", "ns job " + driver + " --shutdown"}, ran); diff != "" {
		t.Error(diff)
	}
	answer = "not yet"
	if _, err := d.Observe(t.Context(), keyOf(pod)); err == nil || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("a response that is not JSON: got %v", err)
	}
	failure = errors.New("connection refused")
	if _, err := d.Observe(t.Context(), keyOf(pod)); !errors.Is(err, external.ErrNotFound) || !errors.Is(err, failure) {
		t.Errorf("no response: got %v", err)
	}
	if _, err := d.Ensure(t.Context(), keyOf(pod), struct{}{}); !errors.Is(err, failure) {
		t.Errorf("a driver that cannot be notified: got %v", err)
	}
}

// TestDriverReports checks that the report of a driver is copied to the status, and ends the evaluation if it says so.
func TestDriverReports(t *testing.T) {
	t.Parallel()
	for state, c := range map[v1alpha1.JobState]struct {
		at       podState
		complete v1alpha1.JobState
	}{v1alpha1.JobRunning: {running, v1alpha1.JobRunning}, v1alpha1.JobComplete: {reported, v1alpha1.JobComplete}} {
		obs := Observation{job: &v1alpha1.LMEvalJob{}}
		obs.fetched.driver.Value = progress{
			State: state, Reason: v1alpha1.JobSucceeded, Message: "well", Results: "{}",
			ProgressBars: []v1alpha1.ProgressBar{{Percent: "50%"}},
		}
		obs.act(transitions.Action(scheduled, c.at), "")
		if s := obs.status; s.State != c.complete || s.Message != "well" || s.Results != "{}" || len(s.ProgressBars) != 1 || s.Reason != v1alpha1.JobSucceeded {
			t.Errorf("%s: got %+v", state, s)
		}
	}
}
