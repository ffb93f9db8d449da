package search

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

// EnvCases and EnvSeed name the environment variables that take the place of System.Cases ("all" for no limit) and of the
// seed by which as many cases are drawn, which is 1.
const (
	EnvCases = "RECONCILETEST_CASES"
	EnvSeed  = "RECONCILETEST_SEED"
)

// Exploration is what [Explore] has done and found.
type Exploration struct {
	// Calls is K, the number of requests that were made to fail, one in each case: the writes and live reads of the runs
	// without faults.
	Calls int
	// Cases is the number of runs with a fault, Left that of those that were not drawn (see System.Cases).
	Cases, Left int
	// Passes is the number of passes of all runs.
	Passes int
	// Horizon is how long each step lasts in the time of the test, for a system that acts at times of its own; 0 for others.
	Horizon time.Duration
	// Notes are what was not tried, and what was accepted.
	Notes []string
	// Trace reports what was sent in the one case that [EnvCase] has asked for.
	Trace []string
	// Findings are sorted: those without a fault first, then by how many cases have the same cause. None means that the system
	// converges.
	Findings []finding.Finding
}
