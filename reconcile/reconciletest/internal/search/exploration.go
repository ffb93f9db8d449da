package search

import (
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

// EnvCases and EnvSeed are the environment variables that override System.Cases ("all" for no limit) and the seed of the random sample,
// which is 1 by default.
const (
	EnvCases = "RECONCILETEST_CASES"
	EnvSeed  = "RECONCILETEST_SEED"
)

// Exploration is the result of [Explore].
type Exploration struct {
	// Calls is the number of requests that failed, one in each case: the writes and live reads of the runs without faults.
	Calls int
	// Cases is the number of runs with a fault, Left the number of cases that were not sampled (see System.Cases).
	Cases, Left int
	// Passes is the number of passes of all runs.
	Passes int
	// Horizon is the duration of each step in the time of the test, for a system that acts on a schedule; 0 for others.
	Horizon time.Duration
	// Notes list the cases that were not tried, and the accepted findings.
	Notes []string
	// Trace lists the requests of the case in [EnvCase].
	Trace []string
	// Findings are sorted: those without a fault first, then by the number of cases with the same cause. None means that the system
	// converges.
	Findings []finding.Finding
}
