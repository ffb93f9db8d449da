package reconciletest

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

type (
	// System is an operator and the world that it lives in: what [Converge], [Scenario] and the packages beside this one run. Setup
	// and Owners are required, or a Singleton instead of Owners.
	System = description.System
	// Singleton describes what makes the difference for a controller without an owner object: the objects that it looks at,
	// and whether the operator is to run it. In a [System] it takes the place of Owners.
	Singleton = description.Singleton
	// StandIn plays a controller that the test does not run, such as the one that sets the status of Deployments. It must be
	// idempotent: when nothing is left to do it writes nothing. Its requests are not counted.
	StandIn = description.StandIn
	// Invariant is what holds for every version of an object that the operator stores. [Always] and [Never] make one.
	Invariant = description.Invariant
	// Event is what an operator has announced about an object.
	Event = run.Event
	// RestlessError reports that the passes do not come to an end.
	RestlessError = run.RestlessError
)

// Always is an invariant of one kind, the type of the function's argument: each stored version of it satisfies the function.
// The text is printed with a finding, for example "a Deployment has at least one replica".
func Always[T client.Object](text string, right func(object T) bool) Invariant {
	return description.Always(text, right)
}

// Never is an invariant of one kind, the type of the function's argument: no stored version of it satisfies the function.
func Never[T client.Object](text string, wrong func(object T) bool) Invariant {
	return description.Never(text, wrong)
}
