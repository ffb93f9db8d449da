package reconciletest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

// Converge checks that the system reaches its end state despite faults, and stays there. It first runs without faults and counts the API
// calls. Then it makes each call fail: rejected, executed with the response lost, outdated, or followed by a crash, also with the owner
// changed or deleted before the next instance starts. Then it delays caches, and drops, duplicates and reorders events. It does this for
// the creation of the owners, for changes of their spec (to B, back, and to B again), for the deletion and recreation of the first of
// several owners, and for the deletion of all. Use [Singleton] for a controller without owners.
//
// Each run must end like the one without faults, in a bounded number of passes, without orphans, without additional deletions, and
// without a write in the end state. A failing case prints its name and the command that runs only this case.
//
// Runs are independent and parallel, so several goroutines call System.Setup and the stand-ins.
func Converge(t testing.TB, system System) {
	t.Helper()
	started := time.Now()
	out, err := Explore(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	if out.Passes == 0 {
		t.Error("no run reconciled an owner: does the controller select the owners of System.Owners, and does Setup add it to the manager?")
	}
	groups := finding.ByCause(out.Findings)
	for n, group := range groups {
		if n == finding.MaxPrinted {
			t.Errorf("and %d more causes: %s", len(groups)-n, finding.Summary(slices.Concat(groups[n:]...)))
			break
		}
		t.Error(finding.PrintCause(group, t.Name()))
	}
	for _, note := range out.Notes {
		t.Log(note)
	}
	if len(out.Trace) > 0 {
		t.Logf("requests:\n%s", strings.Join(out.Trace, "\n"))
	}
	t.Logf("%d API calls, %d of %d cases, %d passes in %s",
		out.Calls, out.Cases, out.Cases+out.Left, out.Passes, time.Since(started).Round(time.Millisecond))
}
