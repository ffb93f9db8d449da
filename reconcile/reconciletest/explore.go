package reconciletest

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/search"
)

// EnvCase is the environment variable with the name of one case: only that one runs, in addition to the runs without faults for
// comparison.
const EnvCase = finding.EnvCase

// EnvCases and EnvSeed are the environment variables that override System.Cases ("all" for no limit) and the seed of the random sample,
// which is 1 by default.
const (
	EnvCases = search.EnvCases
	EnvSeed  = search.EnvSeed
)

type (
	// Finding is one thing that is wrong: the case, the check, and a message with a diff where that helps.
	//
	//	type Finding struct {
	//		// Case names the fault and its position. [EnvCase] runs only this case.
	//		Case string
	//		// Check is the failed check.
	//		Check Check
	//		// Message describes the problem, possibly with a diff: "-" for want, "+" for got.
	//		Message string
	//	}
	//
	//	// String formats the finding.
	//	func (f Finding) String() string
	Finding = finding.Finding
	// Acceptance accepts findings, for a reason that the test prints.
	//
	//	type Acceptance struct {
	//		// Check is the check of the accepted findings; empty is all.
	//		Check Check
	//		// About is a text in the accepted findings, such as the name of an object or a case.
	//		About string
	//		// Reason is the reason why they are correct. Required.
	//		Reason string
	//	}
	Acceptance = finding.Acceptance
	// Exploration is the result of [Explore].
	//
	//	type Exploration struct {
	//		// Calls is the number of requests that failed, one in each case: the writes and live reads of the runs without faults.
	//		Calls int
	//		// Cases is the number of runs with a fault, Left the number of cases that were not sampled (see System.Cases).
	//		Cases, Left int
	//		// Passes is the number of passes of all runs.
	//		Passes int
	//		// Horizon is the duration of each step in the time of the test, for a system that acts on a schedule; 0 for others.
	//		Horizon time.Duration
	//		// Notes list the cases that were not tried, and the accepted findings.
	//		Notes []string
	//		// Trace lists the requests of the case in [EnvCase].
	//		Trace []string
	//		// Findings are sorted: those without a fault first, then by the number of cases with the same cause. None means that the system
	//		// converges.
	//		Findings []Finding
	//	}
	Exploration = search.Exploration
)

// Explore is [Converge] for callers that examine the findings themselves. The error is about the description of the system or the run
// without faults; faults of cases are findings.
func Explore(ctx context.Context, system System) (*Exploration, error) {
	return search.Explore(ctx, system)
}
