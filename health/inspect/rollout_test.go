package inspect_test

import (
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
)

// inspectBothForms inspects an object typed and unstructured, and checks that the results are equal.
func inspectBothForms(t *testing.T, obj runtime.Object, apiVersion, kind string) health.Component {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	typed := inspect.Of(obj)
	if one, other := summary(typed), summary(inspect.Of(u)); one != other {
		t.Fatalf("%+v\ntyped: %s\nunstructured: %s", obj, one, other)
	}
	return typed
}

// TestRolloutsAreReadyWhenComplete checks random counters of workloads: a workload is ready exactly if its controller
// has observed the spec and no replica is missing, surplus or outdated.
func TestRolloutsAreReadyWhenComplete(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	small := func() int32 { return random.Int32N(3) }
	seen := map[bool]int{}
	for range 3000 {
		want, generation, observed := small(), int64(small()), int64(small())

		d := &appsv1.Deployment{}
		d.Generation, d.Spec.Replicas = generation, &want
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: observed, Replicas: small(), UpdatedReplicas: small(), ReadyReplicas: small(), AvailableReplicas: small(),
		}
		s := d.Status
		ready := observed >= generation && s.UpdatedReplicas >= want && s.Replicas <= want && s.Replicas <= s.UpdatedReplicas && s.AvailableReplicas >= want
		if got := inspectBothForms(t, d, "apps/v1", "Deployment"); (got.GetState() == health.Ready) != ready || got.GetState().Failing() {
			t.Fatalf("%+v of %d: %s, ready %v", s, want, summary(got), ready)
		}
		seen[ready]++

		n := &appsv1.DaemonSet{}
		n.Generation = generation
		n.Status = appsv1.DaemonSetStatus{
			ObservedGeneration: observed, DesiredNumberScheduled: want, CurrentNumberScheduled: small(), UpdatedNumberScheduled: small(), NumberAvailable: small(),
		}
		m := n.Status
		ready = observed >= generation && m.CurrentNumberScheduled >= want && m.UpdatedNumberScheduled >= want && m.NumberAvailable >= want
		if got := inspectBothForms(t, n, "apps/v1", "DaemonSet"); (got.GetState() == health.Ready) != ready || got.GetState().Failing() {
			t.Fatalf("%+v: %s, ready %v", m, summary(got), ready)
		}
		seen[ready]++
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("the random cases are unbalanced: %v", seen)
	}
}

// TestClaims checks the result for each phase of a claim, and that only a failed provisioning is a failure.
func TestClaims(t *testing.T) {
	t.Parallel()
	resizing := func(status corev1.ConditionStatus, reason string) []corev1.PersistentVolumeClaimCondition {
		return []corev1.PersistentVolumeClaimCondition{{Type: corev1.PersistentVolumeClaimResizing, Status: status, Reason: reason, Message: "m"}}
	}
	for name, tc := range map[string]struct {
		status corev1.PersistentVolumeClaimStatus
		want   string
	}{
		"bound":       {corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Conditions: resizing("False", "ProvisioningFailed")}, "Ready PvcBound: PVC is bound"},
		"lost":        {corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimLost}, "Degraded PvcLost: PVC lost its underlying volume [Infrastructure]"},
		"new":         {corev1.PersistentVolumeClaimStatus{}, "Progressing PvcPending: PVC is pending"},
		"pending":     {corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}, "Progressing PvcPending: PVC is pending"},
		"resizing":    {corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending, Conditions: resizing("True", "ProvisioningFailed")}, "Progressing PvcPending: PVC is pending"},
		"another one": {corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending, Conditions: resizing("False", "Waiting")}, "Progressing PvcPending: PVC is pending"},
		"failed": {
			corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending, Conditions: resizing("False", "ProvisioningFailed")},
			"Degraded PvcProvisioningFailed: PVC provisioning failed: m [Infrastructure]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := summary(inspectBothForms(t, &corev1.PersistentVolumeClaim{Status: tc.status}, "v1", "PersistentVolumeClaim")); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestPodsTypedAndUnstructured checks that a pod and a list of pods have the same result typed and unstructured.
func TestPodsTypedAndUnstructured(t *testing.T) {
	t.Parallel()
	for _, text := range []string{podReady, podRunning, podPending, podEvicted, podCrashes} {
		list := pods(t, text)
		want := summary(inspect.Pods(list, inspect.PodFacts{}))
		if got := summary(inspectBothForms(t, &list[0], "v1", "Pod")); got != want {
			t.Errorf("pod: got %s, want %s", got, want)
		}
		if got := summary(inspectBothForms(t, &corev1.PodList{Items: list}, "v1", "PodList")); got != want {
			t.Errorf("list: got %s, want %s", got, want)
		}
	}
}
