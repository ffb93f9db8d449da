package check

import "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"

// Check names what a finding is about.
//
//	type Check string
type Check = finding.Check

// The checks of Converge. Each has the class of bugs that it is there for.
const (
	// State: the end is not that of the run without faults. Steps that only the first pass takes, errors that are
	// swallowed, decisions on a stale cache.
	State Check = finding.CheckState
	// Orphan: something that the operator has made outlives the owner, or the spec that asked for it. Finalizers and
	// inventories that are written too late.
	Orphan Check = finding.CheckOrphan
	// Rest: the passes do not come to an end, or come too often. Hot retries, and writes that trigger each other.
	Rest Check = finding.CheckRest
	// Quiet: something is written although the end is reached. Plans that differ from pass to pass.
	Quiet Check = finding.CheckQuiet
	// Deletes: something is deleted that the run without faults leaves alone. Prunes by an incomplete list.
	Deletes Check = finding.CheckDeletes
	// Foreign: an object of somebody else is deleted, because it has the name of one of the operator's.
	Foreign Check = finding.CheckForeign
	// Status: the owner calls itself ready for its spec before the children are written.
	Status Check = finding.CheckStatus
	// Drift: what somebody else has edited or deleted is not put right.
	Drift Check = finding.CheckDrift
	// Watch: something that matters has changed, and nobody was woken: only a pass that comes for another reason acts.
	Watch Check = finding.CheckWatch
	// Time: time alone has made work, and no pass was planned for it.
	Time Check = finding.CheckTime
	// Ready: the owner calls itself ready while a workload of its own is not.
	Ready Check = finding.CheckReady
	// Damage: on the way something is stored that no run without faults stores: replicas that fall to zero while a read
	// fails, a password that is drawn again.
	Damage Check = finding.CheckDamage
	// Refused: the API server refuses a request in the run without faults, until the end, or the condition Ready of an owner
	// has the reason ProgramError there: a kind that is not declared, a child without a name.
	Refused Check = finding.CheckRefused
	// Invariant: one of System.Invariants does not hold.
	Invariant Check = finding.CheckInvariant
	// Leak: a secret value is in the status, the log, an event, or an object that is no Secret.
	Leak Check = finding.CheckLeak
	// Panic: a pass panics.
	Panic Check = finding.CheckPanic
	// Run: the run could not be carried out.
	Run Check = finding.CheckRun
)
