package checker_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// TestCheckProgramErrors checks that an operator that does nothing because of a program error is reported.
func TestCheckProgramErrors(t *testing.T) {
	t.Parallel()
	reports := func(reason string) operator {
		return func(p pass) error {
			p.owner.Status = widget.Status{Conditions: []metav1.Condition{{
				Type: "Ready", Status: metav1.ConditionFalse, Reason: reason, Message: "add Owns(&corev1.ConfigMap{})", LastTransitionTime: metav1.Unix(1, 0),
			}}}
			return p.Status().Update(p, p.owner)
		}
	}
	const owner = "Widget.test.reconcilekit.dev default/web"
	for name, c := range map[string]struct {
		operator   operator
		want, note string
	}{
		"ready":           {func(p pass) error { return p.ready(p.owner.Generation, "") }, "", ""},
		"no status":       {func(pass) error { return nil }, "", ""},
		"a program error": {reports("ProgramError"), "[refused] the operator reports a program error for " + owner + ": add Owns(&corev1.ConfigMap{})", ""},
		"an invalid spec": {reports("InvalidSpec"), "", "InvalidSpec"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, r := execute(t, c.operator, nil)
			j.CheckProgramErrors("no fault, A", r)
			wants(t, j, c.want)
			var want []string
			if c.note != "" {
				want = []string{"not tried: what happens once " + owner + " is ready, because it is not ready at the end of A: " + c.note + ": add Owns(&corev1.ConfigMap{})"}
			}
			j.NoteUnready(description.StepA, r)
			if diff := cmp.Diff(want, j.Notes()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}
