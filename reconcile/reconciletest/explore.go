package reconciletest

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/search"
)

// EnvCase names the environment variable with the name of one case: only that one runs, besides the runs without faults
// that it is compared with.
const EnvCase = finding.EnvCase

// EnvCases and EnvSeed name the environment variables that take the place of System.Cases ("all" for no limit) and of the
// seed by which as many cases are drawn, which is 1.
const (
	EnvCases = search.EnvCases
	EnvSeed  = search.EnvSeed
)

type (
	// Finding is one thing that is wrong: the case, the check, and a message with a diff where that helps.
	//
	//	type Finding struct {
	//		// Case names the fault and where it happened. With [EnvCase] it runs alone.
	//		Case string
	//		// Check reports what was broken.
	//		Check Check
	//		// Message reports how, with a diff where that helps: "-" for want, "+" for got.
	//		Message string
	//	}
	//
	//	// String is the finding as a person reads it.
	//	func (f Finding) String() string
	Finding = finding.Finding
	// Acceptance lets findings pass, for a reason that the test prints.
	//
	//	type Acceptance struct {
	//		// Check is the check whose findings pass; empty is all.
	//		Check Check
	//		// About is a text in the findings that pass, such as the name of an object or a case.
	//		About string
	//		// Reason is why that is right. It must be given.
	//		Reason string
	//	}
	Acceptance = finding.Acceptance
	// Exploration is what [Explore] has done and found.
	//
	//	type Exploration struct {
	//		// Calls is K, the number of requests that were made to fail, one in each case: the writes and live reads of the runs
	//		// without faults.
	//		Calls int
	//		// Cases is the number of runs with a fault, Left that of those that were not drawn (see System.Cases).
	//		Cases, Left int
	//		// Passes is the number of passes of all runs.
	//		Passes int
	//		// Horizon is how long each step lasts in the time of the test, for a system that acts at times of its own; 0 for others.
	//		Horizon time.Duration
	//		// Notes are what was not tried, and what was accepted.
	//		Notes []string
	//		// Trace reports what was sent in the one case that [EnvCase] has asked for.
	//		Trace []string
	//		// Findings are sorted: those without a fault first, then by how many cases have the same cause. None means that the system
	//		// converges.
	//		Findings []Finding
	//	}
	Exploration = search.Exploration
)

// Explore is [Converge] for callers that want to look at the findings themselves. The error is about the system's
// description or the run without faults; what goes wrong in cases is a finding.
func Explore(ctx context.Context, system System) (*Exploration, error) {
	return search.Explore(ctx, system)
}
