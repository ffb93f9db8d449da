package observe

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// reported returns the report of a reconciliation with some children.
func reported(owner string, children int, change func(*apply.ObjectResult)) *reconcile.Report {
	report := &reconcile.Report{Request: ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: owner}}}
	for i := range children {
		o := apply.ObjectResult{Outcome: apply.OutcomeUnchanged, Decision: apply.Decision{
			GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Verb: apply.VerbNone, Reason: apply.ReasonUpToDate,
			Key: types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("%s-%d", owner, i)},
		}}
		if change != nil {
			change(&o)
		}
		report.Applied.Objects = append(report.Applied.Objects, o)
	}
	return report
}

// TestRecallAllocates checks that a reconciliation without changes reuses the memory of the previous record.
func TestRecallAllocates(t *testing.T) {
	r := NewLastPasses(clock.RealClock{})
	report := reported("corner", 5, nil)
	pass := func() {
		r.started(report.Request.NamespacedName, trigger.Trigger{}, false)
		r.done(report)
	}
	pass()
	if n := testing.AllocsPerRun(100, pass); n > 0 {
		t.Errorf("a steady pass allocates %v times, want 0", n)
	}
}

// TestRecallIsBounded checks that the record of an owner has a limited size for any plan and error, and keeps the most important entries.
func TestRecallIsBounded(t *testing.T) {
	t.Parallel()
	r := NewLastPasses(clock.RealClock{})
	n := 0
	var fields []apply.FieldChange
	for i := range 1000 {
		fields = append(fields, apply.FieldChange{Path: fmt.Sprintf(".data.%d", i), To: "hunter2"})
	}
	report := reported("corner", 10_000, func(o *apply.ObjectResult) {
		if n++; n > 9_995 {
			o.Outcome, o.Err = apply.OutcomeFailed, errors.New(strings.Repeat("x", 1<<16))
		}
		o.Fields = fields
	})
	for i := range 100 {
		report.Outcome.Retry = append(report.Outcome.Retry, errors.New(fmt.Sprint(i)+strings.Repeat("y", 1<<16)))
	}
	report.Outcome.Retry = append(report.Outcome.Retry, errors.New("short"))
	r.done(report)
	var out explain.Owner
	r.Fill(&out, report.Request.NamespacedName)
	if got := len(out.Last.Decisions) + out.Last.MoreDecisions; len(out.Last.Decisions) != maxDecisions || got != 10_000 {
		t.Errorf("got %d decisions and %d more", len(out.Last.Decisions), out.Last.MoreDecisions)
	}
	for i, d := range out.Last.Decisions {
		if (d.Error != "") != (i < 5) || len(d.Error) > 1024 || len(d.Fields) > maxFields {
			t.Errorf("decision %d: %d bytes of error, %d fields", i, len(d.Error), len(d.Fields))
		}
	}
	if len(out.Causes) > maxCauses {
		t.Errorf("got %d causes", len(out.Causes))
	}
	r.done(&reconcile.Report{Request: report.Request, Gone: true})
	if len(r.owners) != 0 {
		t.Errorf("an owner that is gone is remembered")
	}
}

// BenchmarkRecall measures the time of explanations in steady state, and their memory for 10,000 owners with 5 children.
func BenchmarkRecall(b *testing.B) {
	for _, owners := range []int{1, 10_000} {
		b.Run(fmt.Sprint(owners), func(b *testing.B) { benchmarkRecall(b, owners) })
	}
}

func benchmarkRecall(b *testing.B, owners int) {
	b.Helper()
	r := NewLastPasses(clock.RealClock{})
	reports := make([]*reconcile.Report, owners)
	for i := range reports {
		reports[i] = reported(fmt.Sprint("owner-", i), 5, nil)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, report := range reports {
		r.done(report)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		r.started(reports[i%owners].Request.NamespacedName, trigger.Trigger{}, false)
		r.done(reports[i%owners])
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(owners), "B/owner")
}

// TestDiagnosed checks that the diagnostics of an author are recorded line by line, truncated and without credentials.
func TestDiagnosed(t *testing.T) {
	t.Parallel()
	report := reported("corner", 1, nil)
	refused := health.NewError(health.InvalidSpec, "PathConflict", "path /a is taken", nil)
	report.Outcome.Terminal = []error{refused}
	report.Components = []health.Component{
		{Name: "Ready", State: health.Ready, Diagnostics: "of no interest"},
		{Name: "Route", State: health.Failed, Errors: []error{refused}, Diagnostics: "path /a belongs to x\n\n  postgres://app:hunter2@db/a  \n"},
		{Name: "Template", State: health.Pending, Message: "none fits", Diagnostics: strings.Repeat(strings.Repeat("é", 500)+"\n", 5000)},
	}
	causes := CausesOf(report)
	if len(causes) != 2 {
		t.Fatalf("causes: %+v", causes)
	}
	if got := strings.Join(causes[0].Diagnostics, "|"); got != "path /a belongs to x|postgres://***@db/a" {
		t.Errorf("diagnostics of the error that the pass ended with: %q", got)
	}
	for _, line := range causes[1].Diagnostics {
		if len(line) > maxDiagnosed || !utf8.ValidString(line) {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
	if n := len(causes[1].Diagnostics); n > maxDiagnostics+1 {
		t.Errorf("%d lines", n)
	}
}
