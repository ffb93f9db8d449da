package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Scenarios returns all scenarios, in the order of the tables.
func Scenarios() []string {
	return []string{"steady", "converge", "restart", "churn", "drift", "spec", "prune", "foreign", "outage"}
}

// Table prints a table for each scenario.
func Table(out io.Writer, rows []Row) error {
	for _, scenario := range Scenarios() {
		if !slices.ContainsFunc(rows, func(r Row) bool { return r.Scenario == scenario }) {
			continue
		}
		note := "totals"
		if scenario == "steady" {
			note = "for one pass"
		}
		fmt.Fprintf(out, "\n%s (%s)\n", scenario, note)
		table := tabwriter.NewWriter(out, 2, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(table, "subject\towners\tchildren\treads\tdry-runs\twrites\tstatus\twrites/child\ttime\tCPU\tallocs\talloc KiB\theap MiB\tfor 1,000 owners\tpeak MiB\tleft\t")
		for i := range rows {
			if rows[i].Scenario == scenario {
				line(table, &rows[i])
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func line(out io.Writer, r *Row) {
	fmt.Fprintf(out, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%.2f\t%s\t%s\t%d\t%.1f\t%.1f\t%.1f\t%.0f\t%d\t\n",
		r.Subject, r.Owners, r.Children, figure(r.Reads), figure(r.DryRuns), figure(r.Writes), figure(r.StatusWrites),
		r.WritesPerChild, span(r.Microseconds), span(r.CPUMicroseconds), r.Allocs, float64(r.Bytes)/1024,
		mebibytes(r.HeapBytes), 1000*mebibytes(r.HeapBytes)/float64(max(r.Owners, 1)), mebibytes(r.PeakBytes), r.Left)
}

func mebibytes(n uint64) float64 { return float64(n) / (1 << 20) }

// Requests prints the requests of each row by verb.
func Requests(out io.Writer, rows []Row) {
	fmt.Fprintln(out, "\nrequests by verb")
	for i := range rows {
		r := &rows[i]
		if len(r.Requests) == 0 {
			continue
		}
		names := make([]string, 0, len(r.Requests))
		for name := range r.Requests {
			names = append(names, name)
		}
		slices.Sort(names)
		for i, name := range names {
			names[i] = figure(r.Requests[name]) + " " + name
		}
		fmt.Fprintf(out, "  %s %s %dx%d: %s\n", r.Scenario, r.Subject, r.Owners, r.Children, strings.Join(names, ", "))
	}
}

// figure formats a number without an unnecessary fraction.
func figure(n float64) string {
	if n == float64(int64(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	return fmt.Sprintf("%.2f", n)
}

// span formats a time in the most readable unit.
func span(microseconds float64) string {
	switch {
	case microseconds >= 1e6:
		return fmt.Sprintf("%.2f s", microseconds/1e6)
	case microseconds >= 1e4:
		return fmt.Sprintf("%.1f ms", microseconds/1e3)
	}
	return fmt.Sprintf("%.1f us", microseconds)
}
