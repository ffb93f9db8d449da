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
	// Allocations is the maximum number of allocations of a reconciliation; the minimum of several reconciliations counts. Zero disables the
	// check. It includes the allocations of controller-runtime and of the queue of the test.
	Allocations uint64
}

const (
	steadyPasses = 20
	// afterStart is the time after which the startup work of the engine is done: in the first minute every reconciliation looks for children
	// that a crash has left.
	afterStart = 2 * time.Minute
)

// Steady runs the system until it is in steady state and then runs more passes of every owner, half of them two minutes later. The test
// fails for any request, including a dry run and an uncached read, and for more allocations than the budget allows.
func Steady(t testing.TB, system System, budget Budget) {
	t.Helper()
	i := startSteady(t, system)
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
			t.Fatal("a resync triggered no pass: nothing to measure")
		}
		least = min(least, allocations)
	}
	if calls := i.Wire.Calls()[sent:]; len(calls) > 0 {
		t.Errorf("want no request in steady state, got %d in %d rounds:\n%s", len(calls), steadyPasses, transport.Sent(calls))
	}
	if budget.Allocations > 0 && least > budget.Allocations {
		t.Errorf("want at most %d allocations in a pass in steady state, got %d", budget.Allocations, least)
	}
}

// Writes runs the system until it is in steady state, applies change to each owner, and fails the test if the system sends more than that
// many writes until the next steady state, including those of the owner's status and metadata. It returns the writes in order.
func Writes(t testing.TB, system System, change func(owner client.Object), most int) requests.Sent {
	t.Helper()
	system.Change = change
	i := startSteady(t, system)
	defer i.End()
	sent := len(i.Wire.Calls())
	if err := i.Cluster.Perform(t.Context(), description.StepB, false); err != nil {
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

// startSteady returns an instance of the system in steady state.
func startSteady(t testing.TB, described System) *run.Instance {
	t.Helper()
	system, err := description.Prepare(described)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Execute(t.Context(), system, run.Spec{Steps: []description.Step{description.StepA}}, system.Namespace(t))
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
