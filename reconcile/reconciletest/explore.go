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
	Finding = finding.Finding
	// Acceptance lets findings pass, for a reason that the test prints.
	Acceptance = finding.Acceptance
	// Exploration is what [Explore] has done and found.
	Exploration = search.Exploration
)

// Explore is [Converge] for callers that want to look at the findings themselves. The error is about the system's
// description or the run without faults; what goes wrong in cases is a finding.
func Explore(ctx context.Context, system System) (*Exploration, error) {
	return search.Explore(ctx, system)
}
