package reconciletest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

// Converge checks that the system reaches its end state whatever happens on the way, and stays there. It first runs
// without faults and counts the API calls. Then it makes each call fail: refused, carried out with the answer lost,
// outdated, or the last thing before a crash, also with the owner changed or deleted before the next instance starts. Then
// it delays caches, and drops, doubles and reorders events. All that it does to the creation of the owners it also does to
// the change of their spec (there, back, and there again), to the first of several owners going and coming back while the
// others stay, and to the deletion of all. A controller without owners is described by its [Singleton].
//
// Each run must end like the one without faults, in a bounded number of passes, without orphans, without deleting more
// than that one, and without a write once the end is reached. A failing case prints its name and how to run it alone.
//
// Runs share nothing and go in parallel, so System.Setup and the stand-ins are called by several goroutines.
func Converge(t testing.TB, system System) {
	t.Helper()
	started := time.Now()
	out, err := Explore(t.Context(), system)
	if err != nil {
		t.Fatal(err)
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
		t.Logf("what was sent:\n%s", strings.Join(out.Trace, "\n"))
	}
	t.Logf("%d API calls, %d of %d cases, %d passes in %s",
		out.Calls, out.Cases, out.Cases+out.Left, out.Passes, time.Since(started).Round(time.Millisecond))
}
