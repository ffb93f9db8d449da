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

// EnvCase names the environment variable with the name of one case: only that one runs, besides the runs without faults
// that it is compared with.
const EnvCase = "RECONCILETEST_CASE"

// Check names what a [Finding] is about.
type Check string

// The checks of [Converge]. Each has the class of bugs that it is there for.
const (
	// CheckState: the end is not that of the run without faults. Steps that only the first pass takes, errors that are
	// swallowed, decisions on a stale cache.
	CheckState Check = "state"
	// CheckOrphan: something that the operator has made outlives the owner, or the spec that asked for it. Finalizers and
	// inventories that are written too late.
	CheckOrphan Check = "orphan"
	// CheckRest: the passes do not come to an end, or come too often. Hot retries, and writes that trigger each other.
	CheckRest Check = "rest"
	// CheckQuiet: something is written although the end is reached. Plans that differ from pass to pass.
	CheckQuiet Check = "quiet"
	// CheckDeletes: something is deleted that the run without faults leaves alone. Prunes by an incomplete list.
	CheckDeletes Check = "deletes"
	// CheckForeign: an object of somebody else is deleted, because it has the name of one of the operator's.
	CheckForeign Check = "foreign"
	// CheckStatus: the owner calls itself ready for its spec before the children are written.
	CheckStatus Check = "status"
	// CheckDrift: what somebody else has edited or deleted is not put right.
	CheckDrift Check = "drift"
	// CheckWatch: something that matters has changed, and nobody was woken: only a pass that comes for another reason acts.
	CheckWatch Check = "watch"
	// CheckTime: time alone has made work, and no pass was planned for it.
	CheckTime Check = "time"
	// CheckReady: the owner calls itself ready while a workload of its own is not.
	CheckReady Check = "ready"
	// CheckDamage: on the way something is stored that no run without faults stores: replicas that fall to zero while a read
	// fails, a password that is drawn again.
	CheckDamage Check = "damage"
	// CheckRefused: the API server refuses a request in the run without faults, until the end, or the owner reports a mistake of the program.
	CheckRefused Check = "refused"
	// CheckInvariant: one of System.Invariants does not hold.
	CheckInvariant Check = "invariant"
	// CheckLeak: a secret value is in the status, the log, an event, or an object that is no Secret.
	CheckLeak Check = "leak"
	// CheckPanic: a pass panics.
	CheckPanic Check = "panic"
	// CheckRun: the run could not be carried out.
	CheckRun Check = "run"
)

// Finding is one thing that is wrong.
type Finding struct {
	// Case names the fault and where it happened. With [EnvCase] it runs alone.
	Case string
	// Check reports what was broken.
	Check Check
	// Message reports how, with a diff where that helps: "-" for want, "+" for got.
	Message string
}

// String is the finding as a person reads it.
func (f Finding) String() string { return fmt.Sprintf("[%s] %s: %s", f.Check, f.Case, f.Message) }

// Acceptance lets findings pass, for a reason that the test prints.
type Acceptance struct {
	// Check is the check whose findings pass; empty is all.
	Check Check
	// About is a text in the findings that pass, such as the name of an object or a case.
	About string
	// Reason is why that is right. It must be given.
	Reason string
}

// ErrNoReason is the error of an acceptance that leaves out what it is about, or why.
var ErrNoReason = errors.New("system: Accepted: want an About and a Reason for everything that is accepted")

// Accepts reports whether a finding is one that is accepted.
func Accepts(a Acceptance, f Finding) bool {
	return (a.Check == "" || a.Check == f.Check) && strings.Contains(f.Case+"\n"+f.Message, a.About)
}

// cause is what findings of one cause have in common: the check, and the message without values and numbers.
func (f Finding) cause() string {
	message := values.ReplaceAllString(f.Message, "")
	return string(f.Check) + " " + numbers.ReplaceAllString(message, "#")
}

var (
	values  = regexp.MustCompile(`: want .*`)
	numbers = regexp.MustCompile(`[0-9]+`)
)

// faultless reports that nothing has gone wrong in the finding's run.
func (f Finding) faultless() bool { return strings.HasPrefix(f.Case, "no fault") }

// ByCause groups findings: those without a fault first, then what nobody but others do, then by the number of cases.
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

// simplest orders findings by how much has happened before.
func simplest(a, b Finding) int {
	return cmp.Or(rank(a)-rank(b), len(a.Case)-len(b.Case), strings.Compare(a.Case, b.Case))
}

func rank(f Finding) int {
	switch {
	case f.faultless():
		return 0
	case strings.Contains(f.Case, "at rest: "):
		return 1
	}
	return 2
}

const (
	MaxPrinted = 10 // causes
	maxLines   = 10 // of a finding
)

// PrintCause is a group of findings as a person reads it, with the command that repeats the first one.
func PrintCause(group []Finding, test string) string {
	lines := strings.Split(group[0].String(), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "...")
	}
	if more := len(group) - 1; more > 0 {
		lines = append(lines, fmt.Sprintf("the same in %d more cases, such as %s", more, group[1].Case))
	}
	return strings.Join(lines, "\n") + fmt.Sprintf("\nto run it alone: %s=%s go test -run '%s'", EnvCase, quoted(group[0].Case), pattern(test))
}

// quoted is a text as a shell takes it.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// pattern is what selects the test of that name alone.
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
