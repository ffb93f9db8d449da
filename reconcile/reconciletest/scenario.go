package reconciletest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// Scenario is a test by example: the system runs until it is in steady state, and the objects must then be as expected. The same scenario
// runs on the fake API server and, with System.Environment, on a real one.
type Scenario struct {
	// System is the system to run.
	System System
	// Expect are objects that must exist, each with at least the fields that are set here: maps may have more keys; lists must have the same
	// elements in the same order, except that conditions are matched by type. Unset fields that Go marshals (nulls, empty structs) are
	// ignored. An object without a namespace is expected in that of the test. A time matches "set".
	Expect []client.Object
	// ExpectYAML is added to Expect.
	ExpectYAML string
	// Gone are objects that must not exist.
	Gone []client.Object
	// Events, if not nil, are the expected events, in order. Here and in Writes the namespace of the test is "default", also on a real API
	// server, where it has another name.
	Events []Event
	// Writes, if not nil, are all allowed writes, in any order, in the format of Request.String, for example "apply configmaps default/web".
	Writes []string
}

// Run runs the scenario.
func (s Scenario) Run(t testing.TB) {
	t.Helper()
	wrong, err := s.findings(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range wrong {
		t.Error(one)
	}
}

// findings runs the scenario and returns the differences. The error reports that the system did not come to rest; the differences are
// then those of that moment. An invalid description, and an operator that does not start, end the test.
func (s Scenario) findings(t testing.TB) (wrong []string, err error) {
	t.Helper()
	system, err := description.Prepare(s.System)
	if err != nil {
		t.Fatal(err)
	}
	more, err := description.ParseYAML(s.ExpectYAML)
	if err != nil {
		t.Fatalf("scenario: ExpectYAML: %v", err)
	}
	r := run.Execute(t.Context(), system, run.Spec{Steps: []description.Step{description.StepA}}, system.Namespace(t))
	if r.Last == nil {
		t.Fatal(r.Err)
	}
	defer r.Last.End()
	for _, want := range append(slices.Clone(s.Expect), more...) {
		if diff := r.Cluster.Differs(want); diff != "" {
			wrong = append(wrong, diff)
		}
	}
	for _, gone := range s.Gone {
		if name, found := r.Cluster.Finds(gone); found {
			wrong = append(wrong, fmt.Sprintf("want no %s, but it exists", name))
		}
	}
	return append(wrong, s.differences(r)...), r.Err
}

// differences compares the events and writes.
func (s Scenario) differences(r *run.Run) (wrong []string) {
	if s.Events != nil {
		got := slices.Clone(r.Events.Events)
		for i := range got {
			got[i].Object = r.Cluster.Plain(got[i].Object)
		}
		if diff := cmp.Diff(s.Events, got); diff != "" {
			wrong = append(wrong, "events (-want +got):\n"+diff)
		}
	}
	if s.Writes != nil {
		var got []string
		for _, request := range transport.Sent(r.Calls).Writes() {
			got = append(got, r.Cluster.Plain(request.String()))
		}
		if diff := cmp.Diff(sorted(s.Writes), sorted(got)); diff != "" {
			wrong = append(wrong, "writes (-want +got):\n"+diff)
		}
	}
	return wrong
}

func sorted(lines []string) []string { return slices.Sorted(slices.Values(lines)) }
