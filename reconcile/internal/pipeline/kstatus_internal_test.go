package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// TestProgressDeadline runs reconciliations at times (in minutes) and checks the kstatus condition after the last one, its transition time, and
// the time until the deadline.
func TestProgressDeadline(t *testing.T) {
	t.Parallel()
	type pass struct {
		at         int
		message    string // of the condition Ready; empty means ready
		generation int64
		terminal   bool
	}
	cases := map[string]struct {
		passes   []pass
		deadline time.Duration
		want     string
	}{
		"a first pass":                        {[]pass{{0, "1 of 3", 1, false}}, 0, "Reconciling since 0 (Waits: 1 of 3), 10m0s left"},
		"no progress yet":                     {[]pass{{0, "1 of 3", 1, false}, {9, "1 of 3", 1, false}}, 0, "Reconciling since 0 (Waits: 1 of 3), 1m0s left"},
		"no progress":                         {[]pass{{0, "1 of 3", 1, false}, {10, "1 of 3", 1, false}}, 0, "Stalled since 10 (ProgressDeadlineExceeded: no progress for 10m0s: 1 of 3), 0s left"},
		"still no progress":                   {[]pass{{0, "1 of 3", 1, false}, {10, "1 of 3", 1, false}, {60, "1 of 3", 1, false}}, 0, "Stalled since 10 (ProgressDeadlineExceeded: no progress for 10m0s: 1 of 3), 0s left"},
		"progress":                            {[]pass{{0, "1 of 3", 1, false}, {9, "2 of 3", 1, false}, {15, "2 of 3", 1, false}}, 0, "Reconciling since 9 (Waits: 2 of 3), 4m0s left"},
		"progress at the deadline":            {[]pass{{0, "1 of 3", 1, false}, {20, "2 of 3", 1, false}}, 0, "Reconciling since 20 (Waits: 2 of 3), 10m0s left"},
		"progress after the deadline":         {[]pass{{0, "1 of 3", 1, false}, {10, "1 of 3", 1, false}, {20, "2 of 3", 1, false}}, 0, "Reconciling since 20 (Waits: 2 of 3), 10m0s left"},
		"no progress again":                   {[]pass{{0, "1 of 3", 1, false}, {10, "1 of 3", 1, false}, {20, "2 of 3", 1, false}, {30, "2 of 3", 1, false}}, 0, "Stalled since 30 (ProgressDeadlineExceeded: no progress for 10m0s: 2 of 3), 0s left"},
		"a new generation":                    {[]pass{{0, "1 of 3", 1, false}, {9, "1 of 3", 2, false}, {15, "1 of 3", 2, false}}, 0, "Reconciling since 9 (Waits: 1 of 3), 4m0s left"},
		"a new generation of a stalled owner": {[]pass{{0, "1 of 3", 1, false}, {10, "1 of 3", 1, false}, {11, "1 of 3", 2, false}}, 0, "Reconciling since 11 (Waits: 1 of 3), 10m0s left"},
		"ready":                               {[]pass{{0, "1 of 3", 1, false}, {10, "1 of 3", 1, false}, {11, "", 1, false}}, 0, "neither, 0s left"},
		"not ready after ready":               {[]pass{{0, "1 of 3", 1, false}, {5, "", 1, false}, {60, "1 of 3", 1, false}}, 0, "Reconciling since 60 (Waits: 1 of 3), 10m0s left"},
		"failed":                              {[]pass{{0, "1 of 3", 1, false}, {60, "no", 1, true}}, 0, "Stalled since 60 (Waits: no), 0s left"},
		"no longer failed":                    {[]pass{{0, "no", 1, true}, {60, "1 of 3", 1, false}}, 0, "Reconciling since 60 (Waits: 1 of 3), 10m0s left"},
		"another deadline":                    {[]pass{{0, "1 of 3", 1, false}, {1, "1 of 3", 1, false}}, time.Minute, "Stalled since 1 (ProgressDeadlineExceeded: no progress for 1m0s: 1 of 3), 0s left"},
		"no deadline":                         {[]pass{{0, "1 of 3", 1, false}, {600, "1 of 3", 1, false}}, -1, "Reconciling since 0 (Waits: 1 of 3), 0s left"},
		"deadline removed":                    {[]pass{{0, "1 of 3", 1, false}}, -1, "Reconciling since 0 (Waits: 1 of 3), 0s left"},
	}
	began := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.deadline == 0 {
				c.deadline = DefaultProgressDeadline
			}
			var stored []metav1.Condition
			var rest time.Duration
			for _, p := range c.passes {
				manager := conditions.NewManager(stored, p.generation, began.Add(time.Duration(p.at)*time.Minute))
				manager.Set(conditions.Ready, conditions.Status(p.message == ""), "Waits", p.message)
				assessment := health.Assessment{}
				if p.terminal {
					assessment.Terminal = []*health.Error{health.NewError(health.InvalidSpec, "Waits", p.message, nil)}
				}
				rest = setKstatus(manager, nil, &assessment, c.deadline)
				manager.RemoveStale(setsKstatus)
				stored = manager.Conditions()
			}
			got := "neither"
			for _, condition := range stored {
				if setsKstatus(condition.Type) {
					got = fmt.Sprintf("%s since %.0f (%s: %s)", condition.Type, condition.LastTransitionTime.Sub(began).Minutes(), condition.Reason, condition.Message)
				}
			}
			if diff := cmp.Diff(c.want, fmt.Sprintf("%s, %s left", got, rest)); diff != "" {
				t.Errorf("after the last pass (-want +got):\n%s", diff)
			}
		})
	}
}
