package check

import "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"

// Check names the check of a finding.
//
//	type Check string
type Check = finding.Check

// The checks of Converge, each with the bugs that it detects.
const (
	// State: the end state differs from that of the run without faults. Work that only the first pass does, ignored errors, decisions based
	// on a stale cache.
	State Check = finding.CheckState
	// Orphan: an object of the operator remains after the deletion of the owner, or after a change of its spec. Finalizers and inventories
	// that are written too late.
	Orphan Check = finding.CheckOrphan
	// Rest: the passes do not end, or are too frequent. Retries without backoff, and writes that trigger each other.
	Rest Check = finding.CheckRest
	// Quiet: the operator writes in the end state. Plans that differ from pass to pass.
	Quiet Check = finding.CheckQuiet
	// Deletes: the operator deletes an object that the run without faults keeps. Prunes based on an incomplete list.
	Deletes Check = finding.CheckDeletes
	// Foreign: the operator deletes another controller's object with the name of one of its own.
	Foreign Check = finding.CheckForeign
	// Status: the owner reports ready for its spec before the children are written.
	Status Check = finding.CheckStatus
	// Drift: another client's edit or deletion is not reverted.
	Drift Check = finding.CheckDrift
	// Watch: an input has changed without triggering a pass: only a pass for another reason acts.
	Watch Check = finding.CheckWatch
	// Time: a change is due by time, but no pass was scheduled for it.
	Time Check = finding.CheckTime
	// Ready: the owner reports ready while one of its workloads is not.
	Ready Check = finding.CheckReady
	// Damage: the operator stores an intermediate state that no run without faults stores: zero replicas while a read fails, a new random
	// password.
	Damage Check = finding.CheckDamage
	// Refused: the API server rejects a request of the run without faults until the end, or the condition Ready of an owner has the reason
	// ProgramError: an undeclared kind, a child without a name.
	Refused Check = finding.CheckRefused
	// Invariant: one of System.Invariants is violated.
	Invariant Check = finding.CheckInvariant
	// Leak: a secret value is in the status, the log, an event, or an object other than a Secret.
	Leak Check = finding.CheckLeak
	// Panic: a pass panics.
	Panic Check = finding.CheckPanic
	// Run: the run failed.
	Run Check = finding.CheckRun
)
