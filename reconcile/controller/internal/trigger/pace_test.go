package trigger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

// TestPace starts reconciliations at times (in seconds) and checks how long each is deferred.
func TestPace(t *testing.T) {
	t.Parallel()
	type start struct {
		at         int
		owner      string
		known, own bool
		forget     bool
	}
	const event, requeue, edit = true, false, true
	cases := map[string]struct {
		interval int
		starts   []start
		want     []int
	}{
		"no interval":            {0, []start{{0, "a", event, false, false}, {0, "a", event, false, false}}, []int{0, 0}},
		"the first pass":         {10, []start{{0, "a", event, false, false}}, []int{0}},
		"events":                 {10, []start{{0, "a", event, false, false}, {1, "a", event, false, false}, {9, "a", event, false, false}, {10, "a", event, false, false}}, []int{0, 9, 1, 0}},
		"from the last pass":     {10, []start{{0, "a", event, false, false}, {10, "a", event, false, false}, {12, "a", event, false, false}}, []int{0, 0, 8}},
		"an edit":                {10, []start{{0, "a", event, false, false}, {1, "a", event, edit, false}, {2, "a", event, false, false}}, []int{0, 0, 9}},
		"a requeue":              {10, []start{{0, "a", event, false, false}, {1, "a", requeue, false, false}, {2, "a", event, false, false}}, []int{0, 0, 9}},
		"another owner":          {10, []start{{0, "a", event, false, false}, {1, "b", event, false, false}}, []int{0, 0}},
		"after it was forgotten": {10, []start{{0, "a", event, false, false}, {1, "a", event, false, true}}, []int{0, 0}},
		"a clock that went back": {10, []start{{100, "a", event, false, false}, {0, "a", event, false, false}}, []int{0, 10}},
	}
	began := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pace := trigger.Pace{Interval: time.Duration(c.interval) * time.Second}
			var got []int
			for _, s := range c.starts {
				owner := types.NamespacedName{Name: s.owner}
				if s.forget {
					pace.Forget(owner)
				}
				rest := pace.Start(owner, trigger.Trigger{Edit: s.own}, s.known, began.Add(time.Duration(s.at)*time.Second))
				got = append(got, int(rest.Seconds()))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("deferred by seconds (-want +got):\n%s", diff)
			}
		})
	}
}
