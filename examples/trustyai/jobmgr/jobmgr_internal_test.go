package jobmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestSuspension checks that a job runs only while the queue admits it. An eviction suspends it even while the workload
// still says admitted. A finished job does not change.
func TestSuspension(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		conditions []string
		state      v1alpha1.JobState
		want       []any // values of spec.suspend
		policy     apply.Policy
	}{
		"waits":                   {},
		"admitted":                {conditions: []string{kueue.Admitted}, want: []any{false}},
		"being preempted":         {conditions: []string{kueue.Admitted, kueue.Evicted}, want: []any{true}},
		"preempted":               {conditions: []string{kueue.Evicted}, want: []any{true}},
		"ended":                   {conditions: []string{kueue.Admitted}, state: v1alpha1.JobComplete, policy: apply.Suspend},
		"ended during preemption": {conditions: []string{kueue.Evicted}, state: v1alpha1.JobComplete, policy: apply.Suspend},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := Observation{workload: &kueue.Workload{}}
			for _, kind := range c.conditions {
				obs.workload.Status.Conditions = append(obs.workload.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
			}
			obs.job.Value = &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job"}}
			obs.job.Value.Status.State = c.state
			plan, err := Reconciler{}.PlanResources(t.Context(), rcontext{}, obs)
			if err != nil {
				t.Fatal(err)
			}
			var got []any
			for i := range plan.Children {
				job, ok := plan.Children[i].Object.(*unstructured.Unstructured)
				if !ok {
					t.Fatalf("planned %T", plan.Children[i].Object)
				}
				suspend, _, _ := unstructured.NestedFieldNoCopy(job.Object, "spec", "suspend")
				got = append(got, suspend)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || plan.Policy != c.policy {
				t.Errorf("policy %v, want %v; spec.suspend (-want +got):\n%s", plan.Policy, c.policy, diff)
			}
		})
	}
}

// TestOutcome checks that a workload reports success or failure of its job; a cancelled job has failed.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for reason, want := range map[v1alpha1.JobReason]v1alpha1.JobReason{
		v1alpha1.JobSucceeded: v1alpha1.JobSucceeded, v1alpha1.JobFailed: v1alpha1.JobFailed,
		v1alpha1.JobCancelledReason: v1alpha1.JobFailed, v1alpha1.NoReason: v1alpha1.JobFailed,
	} {
		job := &v1alpha1.LMEvalJob{}
		job.Status.Reason = reason
		if got := outcome(job); got != want {
			t.Errorf("%s: got %s, want %s", reason, got, want)
		}
	}
}

// TestEviction checks that the workload of an evicted job loses its reservation and is queued again with the reason of
// the eviction, as in the library of Kueue.
func TestEviction(t *testing.T) {
	t.Parallel()
	evicted := metav1.Condition{Type: kueue.Evicted, Status: metav1.ConditionTrue, Reason: "Preempted", Message: "a job of a higher priority"}
	for state, want := range map[v1alpha1.JobState][]string{
		v1alpha1.JobRunning: {},
		v1alpha1.JobSuspended: {
			"Admitted False NoReservation: The workload has no reservation",
			"QuotaReserved False Pending: a job of a higher priority",
			"Requeued True Preempted: a job of a higher priority",
		},
	} {
		obs := Observation{workload: &kueue.Workload{Status: kueue.WorkloadStatus{Conditions: []metav1.Condition{evicted}}}}
		obs.job.Value = &v1alpha1.LMEvalJob{Status: v1alpha1.LMEvalJobStatus{State: state}}
		cm := conditions.NewManager(nil, 1, time.Now())
		Reconciler{}.DecorateStatus(nil, cm, reconcile.StatusContext[*kueue.Workload]{}, obs)
		got := []string{}
		for _, c := range cm.Conditions() {
			if c.Type != "Running" {
				got = append(got, fmt.Sprintf("%s %s %s: %s", c.Type, c.Status, c.Reason, c.Message))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: conditions (-want +got):\n%s", state, diff)
		}
	}
}
