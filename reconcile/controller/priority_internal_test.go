package controller

import (
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

// TestPriorityEndsWithThePass checks that the requeue after an edit has the default priority. Other requeues keep their priority, and a
// priority in the result is used.
func TestPriorityEndsWithThePass(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		woken  trigger.Trigger
		result ctrl.Result
		want   *int
	}{
		"edit":                                {woken: trigger.Trigger{Edit: true}, result: ctrl.Result{RequeueAfter: time.Second}, want: new(0)},
		"edit, with a priority in the result": {woken: trigger.Trigger{Edit: true}, result: ctrl.Result{Priority: new(-7)}, want: new(-7)},
		"another trigger, or a requeue":       {result: ctrl.Result{RequeueAfter: time.Second}},
		"another trigger, with a priority in the result": {result: ctrl.Result{Priority: new(3)}, want: new(3)},
		"edit whose reconciliation failed":               {woken: trigger.Trigger{Edit: true}, want: new(0)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ordinary(c.woken, c.result).Priority
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
