package finding

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// EnvCase is the environment variable with the name of one case: only that one runs, in addition to the runs without faults for
// comparison.
const EnvCase = "RECONCILETEST_CASE"

// Check names the check of a [Finding].
type Check string

// The checks of [Converge], each with the bugs that it detects.
const (
	// CheckState: the end state differs from that of the run without faults. Work that only the first pass does, ignored errors, decisions
	// based on a stale cache.
	CheckState Check = "state"
	// CheckOrphan: an object of the operator remains after the deletion of the owner, or after a change of its spec. Finalizers and
	// inventories that are written too late.
	CheckOrphan Check = "orphan"
	// CheckRest: the passes do not end, or are too frequent. Retries without backoff, and writes that trigger each other.
	CheckRest Check = "rest"
	// CheckQuiet: the operator writes in the end state. Plans that differ from pass to pass.
	CheckQuiet Check = "quiet"
	// CheckDeletes: the operator deletes an object that the run without faults keeps. Prunes based on an incomplete list.
	CheckDeletes Check = "deletes"
	// CheckForeign: the operator deletes another controller's object with the name of one of its own.
	CheckForeign Check = "foreign"
	// CheckStatus: the owner reports ready for its spec before the children are written.
	CheckStatus Check = "status"
	// CheckDrift: another client's edit or deletion is not reverted.
	CheckDrift Check = "drift"
	// CheckWatch: an input has changed without triggering a pass: only a pass for another reason acts.
	CheckWatch Check = "watch"
	// CheckTime: a change is due by time, but no pass was scheduled for it.
	CheckTime Check = "time"
	// CheckReady: the owner reports ready while one of its workloads is not.
	CheckReady Check = "ready"
	// CheckDamage: the operator stores an intermediate state that no run without faults stores: zero replicas while a read fails, a new
	// random password.
	CheckDamage Check = "damage"
	// CheckRefused: the API server rejects a request of the run without faults until the end, or the owner reports a defect of the operator.
	CheckRefused Check = "refused"
	// CheckInvariant: one of System.Invariants is violated.
	CheckInvariant Check = "invariant"
	// CheckLeak: a secret value is in the status, the log, an event, or an object other than a Secret.
	CheckLeak Check = "leak"
	// CheckPanic: a pass panics.
	CheckPanic Check = "panic"
	// CheckRun: the run failed.
	CheckRun Check = "run"
)

// Finding is one problem.
type Finding struct {
	// Case names the fault and its position. [EnvCase] runs only this case.
	Case string
	// Check is the failed check.
	Check Check
	// Message describes the problem, possibly with a diff: "-" for want, "+" for got.
	Message string
}

// String formats the finding.
func (f Finding) String() string { return fmt.Sprintf("[%s] %s: %s", f.Check, f.Case, f.Message) }

// Acceptance accepts findings, for a reason that the test prints.
type Acceptance struct {
	// Check is the check of the accepted findings; empty is all.
	Check Check
	// About is a text in the accepted findings, such as the name of an object or a case.
	About string
	// Reason is the reason why they are correct. Required.
	Reason string
}

// ErrNoReason is the error of an acceptance without About or Reason.
var ErrNoReason = errors.New("system: Accepted: want an About and a Reason for each entry")

// Accepts reports whether a finding is accepted.
func Accepts(a Acceptance, f Finding) bool {
	return (a.Check == "" || a.Check == f.Check) && strings.Contains(f.Case+"\n"+f.Message, a.About)
}

// cause returns the common part of findings with one cause: the check, and the message without values and numbers.
func (f Finding) cause() string {
	message := values.ReplaceAllString(f.Message, "")
	return string(f.Check) + " " + numbers.ReplaceAllString(message, "#")
}

var (
	values  = regexp.MustCompile(`: want .*`)
	numbers = regexp.MustCompile(`[0-9]+`)
)

// faultless reports whether the finding's run has no fault.
func (f Finding) faultless() bool { return strings.HasPrefix(f.Case, "no fault") }

// ByCause groups findings: those without a fault first, then those of external changes, then by the number of cases.
func ByCause(findings []Finding) [][]Finding {
	var causes []string
	groups := map[string][]Finding{}
	for _, f := range findings {
		if groups[f.cause()] == nil {
			causes = append(causes, f.cause())
		}
		groups[f.cause()] = append(groups[f.cause()], f)
	}
	out := make([][]Finding, 0, len(causes))
	for _, cause := range causes {
		group := groups[cause]
		slices.SortStableFunc(group, simplest)
		out = append(out, group)
	}
	slices.SortStableFunc(out, func(a, b []Finding) int {
		return cmp.Or(rank(a[0])-rank(b[0]), len(b)-len(a), simplest(a[0], b[0]))
	})
	return out
}

// simplest orders findings by the complexity of their cases.
func simplest(a, b Finding) int {
	return cmp.Or(rank(a)-rank(b), len(a.Case)-len(b.Case), strings.Compare(a.Case, b.Case))
}

func rank(f Finding) int {
	switch {
	case f.faultless():
		return 0
	case strings.Contains(f.Case, "steady state: "):
		return 1
	}
	return 2
}

const (
	MaxPrinted = 10 // causes
	maxLines   = 10 // of a finding
)

// PrintCause formats a group of findings, with the command that repeats the first one.
func PrintCause(group []Finding, test string) string {
	lines := strings.Split(group[0].String(), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "...")
	}
	if more := len(group) - 1; more > 0 {
		lines = append(lines, fmt.Sprintf("the same in %d more cases, such as %s", more, group[1].Case))
	}
	return strings.Join(lines, "\n") + fmt.Sprintf("\nto run only this case: %s=%s go test -run '%s'", EnvCase, quoted(group[0].Case), pattern(test))
}

// quoted quotes a text for a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// pattern returns the -run pattern for the test with the name.
func pattern(name string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^") + "$"
}

// Summary counts findings by check.
func Summary(findings []Finding) string {
	counts := map[Check]int{}
	for _, f := range findings {
		counts[f.Check]++
	}
	var parts []string
	for _, check := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[check], check))
	}
	return strings.Join(parts, ", ")
}
