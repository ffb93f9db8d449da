package conditionlist_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/conditionlist"
)

type list []metav1.Condition

type named struct {
	corev1.ConfigMap

	Status struct{ Conditions list }
}

type pointed struct {
	corev1.ConfigMap

	Status *struct{ Conditions []metav1.Condition }
}

type loose struct{ unstructured.Unstructured }

func withStatus() client.Object {
	p := &pointed{}
	p.Status = &struct{ Conditions []metav1.Condition }{}
	return p
}

func TestSetAndGet(t *testing.T) {
	t.Parallel()
	want := []metav1.Condition{{
		Type: "Ready", Status: "True", Reason: "Done", Message: "m", ObservedGeneration: 3,
		LastTransitionTime: metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
	}}
	for name, tt := range map[string]struct {
		object client.Object
		want   []metav1.Condition
	}{
		"a field of its own type":   {&named{}, want},
		"a status behind a pointer": {withStatus(), want},
		"a built-in type":           {&corev1.Service{}, want},
		"unstructured":              {&unstructured.Unstructured{Object: map[string]any{}}, want},
		"embedded unstructured":     {&loose{unstructured.Unstructured{Object: map[string]any{}}}, want},
		"no status":                 {&pointed{}, nil},
		"no status field":           {&corev1.ConfigMap{}, nil},
		"another shape":             {&batchv1.Job{}, nil},
		"a status that is a string": {&unstructured.Unstructured{Object: map[string]any{"status": "new"}}, nil},
		"a nil object":              {(*corev1.Service)(nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var access conditionlist.Access
			access.Set(tt.object, want)
			if diff := cmp.Diff(tt.want, access.Get(tt.object), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

// jobs converts the conditions of Jobs.
type jobs struct{}

func (jobs) GetConditions(job *batchv1.Job) (out []metav1.Condition) {
	for _, c := range job.Status.Conditions {
		out = append(out, metav1.Condition{Type: string(c.Type), Status: metav1.ConditionStatus(c.Status)})
	}
	return out
}

func (jobs) SetConditions(job *batchv1.Job, all []metav1.Condition) {
	for _, c := range all {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: batchv1.JobConditionType(c.Type), Status: corev1.ConditionStatus(c.Status),
		})
	}
}

// TestAdapter checks that an adapter is used only for owners of its type.
func TestAdapter(t *testing.T) {
	t.Parallel()
	access := conditionlist.Of[*batchv1.Job](jobs{})
	job, set := &batchv1.Job{}, []metav1.Condition{{Type: "Ready", Status: "True"}}
	access.Set(job, set)
	if diff := cmp.Diff(set, access.Get(job)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	other := &corev1.Service{}
	access.Set(other, set)
	if got := access.Get(other); got != nil || other.Status.Conditions != nil {
		t.Errorf("conditions of a service: %v; want none", got)
	}
}
