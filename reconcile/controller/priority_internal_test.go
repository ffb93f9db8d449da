package controller

import (
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

// TestPriorityEndsWithThePass: what comes after the pass of an edit has no priority over others; other passes keep theirs, and a
// priority that the pass asks for counts.
func TestPriorityEndsWithThePass(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		woken  trigger.Trigger
		result ctrl.Result
		want   *int
	}{
		"an edit":                       {woken: trigger.Trigger{Edit: true}, result: ctrl.Result{RequeueAfter: time.Second}, want: new(0)},
		"an edit, with another wish":    {woken: trigger.Trigger{Edit: true}, result: ctrl.Result{Priority: new(-7)}, want: new(-7)},
		"another cause, or a requeue":   {result: ctrl.Result{RequeueAfter: time.Second}},
		"another cause, with its wish":  {result: ctrl.Result{Priority: new(3)}, want: new(3)},
		"an edit whose pass has failed": {woken: trigger.Trigger{Edit: true}, want: new(0)},
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
