package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/benchmarks/report"
	"github.com/reconcilekit/reconcilekit/benchmarks/subject"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	row := func(scenario, name string, change func(*report.Row)) report.Row {
		r := report.Row{Scenario: scenario, Subject: name, Owners: 10, Children: 5, CPUMicroseconds: 10, Microseconds: 10, Allocs: 100}
		if scenario == "converge" {
			r.ChildWrites, r.OwnerWrites, r.StatusWrites, r.WritesPerChild = 50, 10, 20, 1
		}
		if change != nil {
			change(&r)
		}
		return r
	}
	tooMuch := 1025.0
	cases := map[string]struct {
		rows []report.Row
		want []string
	}{
		"AllKept": {rows: []report.Row{
			row("steady", subject.CachedReads, nil), row("steady", subject.CreateOrUpdate, func(r *report.Row) { r.CPUMicroseconds = 30 }),
			row("steady", subject.Kit, func(r *report.Row) { r.CPUMicroseconds = 20 }),
			row("converge", subject.BareClient, nil), row("converge", subject.Kit, func(r *report.Row) { r.Microseconds = 12 }),
			row("restart", subject.Kit, nil), row("churn", subject.Kit, nil),
			row("drift", subject.Kit, func(r *report.Row) { r.Expected, r.ChildWrites = 3, 3 }), row("prune", subject.Kit, nil),
		}},
		"OthersMayMiss": {rows: []report.Row{
			row("restart", subject.ApplyAlways, func(r *report.Row) { r.Writes = 50 }),
			row("prune", subject.CreateOrUpdate, func(r *report.Row) { r.Left = 70 }),
		}},
		"SteadyRequests": {
			rows: []report.Row{row("steady", subject.KitWithHealth, func(r *report.Row) { r.Requests = map[string]float64{"get secrets": 0.01} })},
			want: []string{"steady reconcilekit-health 10x5: 0.01 requests, promised exactly 0"},
		},
		"SteadySlow": {
			rows: []report.Row{
				row("steady", subject.CachedReads, nil), row("steady", subject.CreateOrUpdate, nil),
				row("steady", subject.Kit, func(r *report.Row) { r.CPUMicroseconds = 25 }),
			},
			want: []string{
				"steady reconcilekit 10x5: 2.50 times the CPU of the cached reads, promised at most 2",
				"steady reconcilekit 10x5: 2.50 times the CPU of CreateOrUpdate, promised at most 1",
			},
		},
		"SteadyAllocations": {
			rows: []report.Row{
				row("steady", subject.CachedReads, nil), row("steady", subject.Kit, func(r *report.Row) { r.Allocs = 101 }),
				row("steady", subject.KitWithHealth, func(r *report.Row) { r.Allocs = 200 }),
			},
			want: []string{"steady reconcilekit 10x5: 1.01 times the allocations of the cached reads, promised at most 1"},
		},
		"Converge": {
			rows: []report.Row{row("converge", subject.BareClient, nil), row("converge", subject.Kit, func(r *report.Row) {
				r.ChildWrites, r.OwnerWrites, r.StatusWrites, r.Microseconds = 51, 11, 21, 13
			})},
			want: []string{
				"converge reconcilekit 10x5: 51 writes of children, promised exactly 50",
				"converge reconcilekit 10x5: 11 writes of the owners' metadata, promised exactly 10",
				"converge reconcilekit 10x5: 21 status writes, promised at most 20",
				"converge reconcilekit 10x5: 1.30 times the wall time of the bare client, promised at most 1.20",
			},
		},
		"Silence": {
			rows: []report.Row{
				row("restart", subject.Kit, func(r *report.Row) { r.Writes, r.StatusWrites, r.KeptBytesPerChild = 1, 1, &tooMuch }),
				row("churn", subject.Kit, func(r *report.Row) { r.DryRuns = 1 }),
			},
			want: []string{
				"restart reconcilekit 10x5: 2 writes, promised exactly 0",
				"restart reconcilekit 10x5: 1025 bytes kept for each child beyond the cache, promised at most 1024",
				"churn reconcilekit 10x5: 1 dry-runs, promised exactly 0",
			},
		},
		"Foreign": {
			rows: []report.Row{
				row("foreign", subject.Kit, func(r *report.Row) { r.HeapTimes = 9 }),
				row("foreign", subject.KitOperator, func(r *report.Row) { r.HeapTimes = 1.51 }),
				row("foreign", subject.KitFiltered, func(r *report.Row) { r.HeapTimes, r.Writes = 1.6, 1 }),
			},
			want: []string{
				"foreign reconcilekit-operator 10x5: 1.51 times the heap without objects of others, promised at most 1.50",
				"foreign reconcilekit-filtered 10x5: 1 writes, promised exactly 0",
				"foreign reconcilekit-filtered 10x5: 1.60 times the heap without objects of others, promised at most 1.50",
			},
		},
		"Lost": {
			rows: []report.Row{
				row("drift", subject.Kit, func(r *report.Row) { r.Expected, r.ChildWrites, r.Left = 3, 2, 1 }),
				row("prune", subject.Kit, func(r *report.Row) { r.Left = 7 }),
			},
			want: []string{
				"drift reconcilekit 10x5: 2 writes of children, promised exactly 3",
				"drift reconcilekit 10x5: 1 edits that were not repaired, promised exactly 0",
				"prune reconcilekit 10x5: 7 orphans, promised exactly 0",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, report.Check(tc.rows)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	rows := []report.Row{{Scenario: "steady", Subject: subject.Kit, Owners: 1, Children: 5, Microseconds: 56.25, Reads: 0.5}}
	if err := report.Table(&out, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"steady (for one pass)", "56.2 us", "0.50", subject.Kit} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}
