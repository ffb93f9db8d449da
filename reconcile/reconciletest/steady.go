package reconciletest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// Budget limits the cost of a reconciliation in steady state.
type Budget struct {
	// Allocations is the number of allocations of a pass, the least of several passes counted. Zero does not look at
	// them. What controller-runtime and the queue of the test allocate is part of it.
	Allocations uint64
}

const (
	steadyPasses = 20
	// afterStart is when what the engine does after a start is over: in the first minute every pass looks for children that a crash has
	// left behind.
	afterStart = 2 * time.Minute
)

// Steady brings the system to rest and then lets every owner have more passes, half of them two minutes later. Any request, be it a
// write, a dry run or a read past the cache, fails the test, and so do more allocations than the budget has.
func Steady(t testing.TB, system System, budget Budget) {
	t.Helper()
	i := rested(t, system)
	defer i.End()
	sent := len(i.Wire.Calls())
	least := ^uint64(0)
	for round := range steadyPasses {
		if round == steadyPasses/2 {
			i.Later(afterStart)
		}
		passes := i.Passes
		i.View.Resync()
		allocations, err := i.Measured(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i.Passes == passes {
			t.Fatal("a resync has caused no pass: there is nothing to measure")
		}
		least = min(least, allocations)
	}
	if calls := i.Wire.Calls()[sent:]; len(calls) > 0 {
		t.Errorf("want no request at rest, got %d in %d rounds:\n%s", len(calls), steadyPasses, transport.Sent(calls))
	}
	if budget.Allocations > 0 && least > budget.Allocations {
		t.Errorf("want at most %d allocations in a pass at rest, got %d", budget.Allocations, least)
	}
}

// Writes brings the system to rest, applies the change to each owner and fails the test unless the way to the next rest
// takes at most that many writes; of the owner's status and metadata, too. It returns them in the order in which they
// were sent.
func Writes(t testing.TB, system System, change func(owner client.Object), most int) requests.Sent {
	t.Helper()
	system.Change = change
	i := rested(t, system)
	defer i.End()
	sent := len(i.Wire.Calls())
	if err := i.World.Perform(t.Context(), description.StepB, false); err != nil {
		t.Fatal(err)
	}
	if err := i.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	writes := transport.Sent(i.Wire.Calls()[sent:]).Writes()
	if len(writes) > most {
		t.Errorf("want at most %d writes, got %d:\n%s", most, len(writes), listed(writes))
	}
	return writes
}

// rested is an instance of the system with nothing left to do.
func rested(t testing.TB, described System) *run.Instance {
	t.Helper()
	system, err := description.Prepare(described)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Play(t.Context(), system, run.Plot{Steps: []description.Step{description.StepA}}, system.Namespace(t))
	if r.Err != nil {
		if r.Last != nil {
			r.Last.End()
		}
		t.Fatal(r.Err)
	}
	return r.Last
}

// listed prints requests one by one, with their names.
func listed(sent requests.Sent) string {
	lines := make([]string, len(sent))
	for n, request := range sent {
		lines[n] = fmt.Sprintf("%d. %s", n+1, request)
	}
	return strings.Join(slices.Clip(lines), "\n")
}
