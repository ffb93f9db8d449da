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
	// Check names what a [Finding] is about.
	Check = finding.Check
	// Finding is one thing that is wrong: the case, the check, and a message with a diff where that helps.
	Finding = finding.Finding
	// Acceptance lets findings pass, for a reason that the test prints.
	Acceptance = finding.Acceptance
	// Exploration is what [Explore] has done and found.
	Exploration = search.Exploration
)

// The checks of [Converge]. Each has the class of bugs that it is there for.
const (
	// CheckState: the end is not that of the run without faults. Steps that only the first pass takes, errors that are
	// swallowed, decisions on a stale cache.
	CheckState Check = finding.CheckState
	// CheckOrphan: something that the operator has made outlives the owner, or the spec that asked for it. Finalizers and
	// inventories that are written too late.
	CheckOrphan Check = finding.CheckOrphan
	// CheckRest: the passes do not come to an end, or come too often. Hot retries, and writes that trigger each other.
	CheckRest Check = finding.CheckRest
	// CheckQuiet: something is written although the end is reached. Plans that differ from pass to pass.
	CheckQuiet Check = finding.CheckQuiet
	// CheckDeletes: something is deleted that the run without faults leaves alone. Prunes by an incomplete list.
	CheckDeletes Check = finding.CheckDeletes
	// CheckForeign: an object of somebody else is deleted, because it has the name of one of the operator's.
	CheckForeign Check = finding.CheckForeign
	// CheckStatus: the owner calls itself ready for its spec before the children are written.
	CheckStatus Check = finding.CheckStatus
	// CheckDrift: what somebody else has edited or deleted is not put right.
	CheckDrift Check = finding.CheckDrift
	// CheckWatch: something that matters has changed, and nobody was woken: only a pass that comes for another reason acts.
	CheckWatch Check = finding.CheckWatch
	// CheckTime: time alone has made work, and no pass was planned for it.
	CheckTime Check = finding.CheckTime
	// CheckReady: the owner calls itself ready while a workload of its own is not.
	CheckReady Check = finding.CheckReady
	// CheckDamage: on the way something is stored that no run without faults stores: replicas that fall to zero while a read
	// fails, a password that is drawn again.
	CheckDamage Check = finding.CheckDamage
	// CheckRefused: the API server refuses a request in the run without faults, until the end.
	CheckRefused Check = finding.CheckRefused
	// CheckInvariant: one of System.Invariants does not hold.
	CheckInvariant Check = finding.CheckInvariant
	// CheckLeak: a secret value is in the status, the log, an event, or an object that is no Secret.
	CheckLeak Check = finding.CheckLeak
	// CheckPanic: a pass panics.
	CheckPanic Check = finding.CheckPanic
	// CheckRun: the run could not be carried out.
	CheckRun Check = finding.CheckRun
)

// Explore is [Converge] for callers that want to look at the findings themselves. The error is about the system's
// description or the run without faults; what goes wrong in cases is a finding.
func Explore(ctx context.Context, system System) (*Exploration, error) {
	return search.Explore(ctx, system)
}
