package reconciletest

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Acceptance lets findings pass, for a reason that the test prints.
type Acceptance struct {
	// Check is the check whose findings pass; empty is all.
	Check Check
	// About is a text in the findings that pass, such as the name of an object or a case.
	About string
	// Reason is why that is right. It must be given.
	Reason string
}

var errNoReason = errors.New("system: Accepted: want an About and a Reason for everything that is accepted")

func (a Acceptance) matches(f Finding) bool {
	return (a.Check == "" || a.Check == f.Check) && strings.Contains(f.Case+"\n"+f.Message, a.About)
}

// accept takes out what the system accepts.
func (e *explorer) accept() {
	e.out.Findings = slices.DeleteFunc(e.out.Findings, func(f Finding) bool {
		n := slices.IndexFunc(e.system.Accepted, func(a Acceptance) bool { return a.matches(f) })
		if n >= 0 {
			note := fmt.Sprintf("accepted, %s: %s", e.system.Accepted[n].Reason, e.system.Accepted[n].About)
			if !slices.Contains(e.out.Notes, note) {
				e.out.Notes = append(e.out.Notes, note)
			}
		}
		return n >= 0
	})
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

// byCause groups findings: those without a fault first, then what nobody but others do, then by the number of cases.
func byCause(findings []Finding) [][]Finding {
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
	maxPrinted = 10 // causes
	maxLines   = 10 // of a finding
)

// printCause is a group of findings as a person reads it, with the command that repeats the first one.
func printCause(group []Finding, test string) string {
	lines := strings.Split(group[0].String(), "\n")
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "...")
	}
	if more := len(group) - 1; more > 0 {
		lines = append(lines, fmt.Sprintf("the same in %d more cases, such as %s", more, group[1].Case))
	}
	return strings.Join(lines, "\n") + fmt.Sprintf("\nto run it alone: %s='%s' go test -run '%s'", EnvCase, group[0].Case, pattern(test))
}

// notes are what the exploration did not try.
func (e *explorer) notes() {
	s, add := e.system, func(format string, args ...any) { e.out.Notes = append(e.out.Notes, fmt.Sprintf(format, args...)) }
	for _, b := range e.plots {
		if more := len(b.calls) - manyCalls; more > 0 {
			add("not tried: %d of the calls of %s, those after the first %d", more, b.name, manyCalls)
		}
	}
	switch {
	case s.Change == nil:
		add("not tried: a change of the spec; set System.Change")
	case !slices.ContainsFunc(e.plots, func(b *baseline) bool { return len(b.deleted) > 0 && b.last() != stepDelete }):
		add("not tried: a prune, as System.Change takes nothing away that the operator deletes")
	}
	if s.Singleton == nil && len(s.Owners) == 1 && e.pair == nil {
		add("not tried: what owners have in common, as there is one only; add another one to System.Owners")
	}
	if len(s.StandIns) == 0 {
		add("not tried: children that become ready or fail; set System.StandIns")
	}
	if e.out.Horizon > 0 {
		add("it acts at times of its own: each step lasts %s (System.Horizon); not tried: edits and deletes by others, refusals that last", e.out.Horizon)
	}
}
