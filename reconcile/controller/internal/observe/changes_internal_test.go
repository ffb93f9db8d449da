package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

// TestChanges checks the time to ready. Each step is an event of a generation, or a reconciliation, one second after the previous step. The result is the seconds from the
// change to the reconciliation that is ready, and the owners that are not ready yet.
func TestChanges(t *testing.T) {
	t.Parallel()
	event := func(generation int64) any { return generation }
	pass := func(generation int64, ready bool) any { return reconcile.Report{Generation: generation, Ready: ready} }
	cases := map[string]struct {
		steps []any
		want  []int
		left  int
	}{
		"ready at once":                       {[]any{event(1), pass(1, true)}, []int{1}, 0},
		"ready later":                         {[]any{event(1), pass(1, false), pass(1, false), pass(1, true)}, []int{3}, 0},
		"counted once":                        {[]any{event(1), pass(1, true), pass(1, false), pass(1, true)}, []int{1}, 0},
		"not ready":                           {[]any{event(1), pass(1, false)}, nil, 1},
		"a change of a ready owner":           {[]any{event(1), pass(1, true), event(2), pass(2, true)}, []int{1, 1}, 0},
		"a change before the owner was ready": {[]any{event(1), pass(1, false), event(2), pass(2, false), pass(2, true)}, []int{2}, 0},
		"ready with the generation before":    {[]any{event(1), event(2), pass(1, true), pass(2, true)}, []int{2}, 0},
		"the same generation again":           {[]any{event(1), event(1), pass(1, true)}, []int{2}, 0},
		"a change that was not seen":          {[]any{pass(1, true)}, nil, 0},
		"created again":                       {[]any{event(3), event(1), pass(1, true)}, []int{1}, 0},
		"deleted":                             {[]any{event(1), reconcile.Report{Gone: true}}, nil, 0},
		"paused":                              {[]any{event(1), reconcile.Report{Generation: 1, Paused: true}, pass(1, true)}, nil, 0},
	}
	owner := types.NamespacedName{Namespace: "a", Name: "b"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracked, now := changes{}, time.Unix(0, 0)
			var got []int
			for _, step := range c.steps {
				switch s := step.(type) {
				case int64:
					tracked.note(owner, s, now)
				case reconcile.Report:
					s.Request = ctrl.Request{NamespacedName: owner}
					if took, ready := tracked.done(&s, now); ready {
						got = append(got, int(took.Seconds()))
					}
				}
				now = now.Add(time.Second)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("seconds (-want +got):\n%s", diff)
			}
			if len(tracked.owners) != c.left {
				t.Errorf("%d owners are waited for, want %d", len(tracked.owners), c.left)
			}
		})
	}
}
