package finding_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	var r finding.Record
	r.Find("A", finding.CheckState, "want %d", 3)
	r.Find("B", finding.CheckRest, "no end")
	want := []finding.Finding{{Case: "A", Check: finding.CheckState, Message: "want 3"}, {Case: "B", Check: finding.CheckRest, Message: "no end"}}
	if diff := cmp.Diff(want, r.Findings()); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if r.Done() {
		t.Error("a search for all findings stops at the first")
	}
	for _, note := range []string{"b", "a", "b"} {
		r.Note("to check: %s", note)
	}
	if diff := cmp.Diff([]string{"to check: a", "to check: b"}, r.Notes()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestRecordUntil(t *testing.T) {
	t.Parallel()
	r := finding.Record{Until: func(f finding.Finding) bool { return f.Check == finding.CheckDrift }}
	r.Find("A", finding.CheckState, "x")
	if r.Done() {
		t.Error("stops at another finding")
	}
	r.Find("A", finding.CheckDrift, "x")
	r.Find("A", finding.CheckState, "x")
	if !r.Done() {
		t.Error("does not stop at the wanted finding")
	}
}

func TestRecordByManyAtATime(t *testing.T) {
	t.Parallel()
	var r finding.Record
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			r.Find(fmt.Sprint(n), finding.CheckState, "x")
			r.Note("%d", n)
		})
	}
	wg.Wait()
	if len(r.Findings()) != 20 || len(r.Notes()) != 20 {
		t.Errorf("%d findings and %d notes, want 20", len(r.Findings()), len(r.Notes()))
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()
	f := finding.Finding{Case: "A: events doubled", Check: finding.CheckQuiet, Message: "writes ConfigMap default/web"}
	for name, c := range map[string]struct {
		accepted finding.Acceptance
		want     bool
	}{
		"by its message":          {finding.Acceptance{About: "default/web"}, true},
		"by its case":             {finding.Acceptance{About: "events doubled"}, true},
		"by its check":            {finding.Acceptance{About: "default/web", Check: finding.CheckQuiet}, true},
		"another check":           {finding.Acceptance{About: "default/web", Check: finding.CheckState}, false},
		"about another message":   {finding.Acceptance{About: "default/shop"}, false},
		"across case and message": {finding.Acceptance{About: "doubledwrites"}, false},
	} {
		if got := finding.Accepts(c.accepted, f); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// TestByCause checks the order of causes: without a fault, with interference, most cases, shortest case.
func TestByCause(t *testing.T) {
	t.Parallel()
	find := func(name string, check finding.Check, message string) finding.Finding {
		return finding.Finding{Case: name, Check: check, Message: message}
	}
	got := finding.ByCause([]finding.Finding{
		find("A: error of get x#2", finding.CheckState, "ConfigMap default/web-1: want 1, got 2"),
		find("A: steady state: delete of x", finding.CheckWatch, "nobody"),
		find("A: error of get x#1", finding.CheckState, "ConfigMap default/web-22: want red, got green"),
		find("A: timeout of get x#1", finding.CheckState, "Secret default/web: want 3, got 4"),
		find("no fault, A-B", finding.CheckOrphan, "left"),
		find("no fault, A", finding.CheckOrphan, "left"),
		find("A: steady state: edits of x", finding.CheckRest, "nobody"),
		find("A: steady state: delete of y", finding.CheckRest, "nobody"),
		find("A: error", finding.CheckRest, "ConfigMap default/web-1: want 1, got 2"),
	})
	var lines []string
	for _, group := range got {
		var cases []string
		for _, f := range group {
			cases = append(cases, f.Case)
		}
		lines = append(lines, fmt.Sprintf("%s: %s", group[0].Check, strings.Join(cases, "; ")))
	}
	want := []string{
		"orphan: no fault, A; no fault, A-B",
		"rest: A: steady state: edits of x; A: steady state: delete of y",
		"watch: A: steady state: delete of x",
		"state: A: error of get x#1; A: error of get x#2",
		"rest: A: error",
		"state: A: timeout of get x#1",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	all := []finding.Finding{{Check: finding.CheckState}, {Check: finding.CheckDrift}, {Check: finding.CheckState}}
	if got := finding.Summary(all); got != "1 drift, 2 state" {
		t.Errorf("got %q", got)
	}
	if got := finding.Summary(nil); got != "" {
		t.Errorf("without findings: %q", got)
	}
}

// TestPrintLongCause checks that a long message is truncated, and that the name of a test is escaped in the regular expression.
func TestPrintLongCause(t *testing.T) {
	t.Parallel()
	message := "1" + strings.Repeat("\n-", 20)
	got := strings.Split(finding.PrintCause([]finding.Finding{{Case: "A", Check: finding.CheckState, Message: message}}, "Test(x)"), "\n")
	if len(got) != 12 || got[0] != "[state] A: 1" || got[10] != "..." || got[11] != `to run only this case: RECONCILETEST_CASE='A' go test -run '^Test\(x\)$'` {
		t.Errorf("printed:\n%s", strings.Join(got, "\n"))
	}
}
