package harness

import (
	"cmp"
	"context"
	"slices"

	"github.com/reconcilekit/reconcilekit/benchmarks/report"
	"github.com/reconcilekit/reconcilekit/benchmarks/subject"
	"github.com/reconcilekit/reconcilekit/benchmarks/worker"
	"github.com/reconcilekit/reconcilekit/benchmarks/world"
)

// world runs the scenarios that share a large world: it converges from empty, the subject is restarted on it, and then it is changed in
// several ways.
func (h *Harness) world(ctx context.Context, s subject.Subject) error {
	if !h.takes(s, "restart", "churn", "drift", "spec") {
		if h.compared(s.Name) {
			return nil
		}
		return h.in(ctx, h.Owners, h.Children, func(*world.World) error { return h.converge(ctx, s.Name) })
	}
	return h.in(ctx, h.Owners, h.Children, func(w *world.World) error {
		if err := h.converge(ctx, s.Name); err != nil {
			return err
		}
		return h.settledWorld(ctx, s, w)
	})
}

// converge measures how a subject creates the children of a world.
func (h *Harness) converge(ctx context.Context, name string) error {
	h.logf("converge: %s, %d owners x %d children", name, h.Owners, h.Children)
	return h.with(ctx, name, h.Owners, func(p *process) error {
		m, err := p.do(worker.Command{Do: worker.DoSettle})
		if err == nil && slices.Contains(h.Scenarios, "converge") && !h.compared(name) {
			h.rows = append(h.rows, report.NewRow("converge", name, h.Owners, h.Children, m))
		}
		return err
	})
}

// compared reports whether [Harness.compare] measures the subject's time to converge.
func (h *Harness) compared(name string) bool {
	return (name == subject.Kit || name == subject.BareClient) && slices.Contains(h.Scenarios, "converge") &&
		slices.Contains(h.Subjects, subject.Kit) && slices.Contains(h.Subjects, subject.BareClient)
}

// compare runs converge for reconcilekit and the bare client in turns, because the speed of the API server depends on other load. The
// rows are those of the round with the median ratio.
func (h *Harness) compare(ctx context.Context) error {
	if !h.compared(subject.Kit) {
		return nil
	}
	pair := []string{subject.BareClient, subject.Kit}
	var rounds [][]report.Row
	for round := range max(h.Rounds, 1) {
		var rows []report.Row
		for _, name := range pair {
			h.logf("converge: %s, %d owners x %d children, round %d of %d", name, h.Owners, h.Children, round+1, max(h.Rounds, 1))
			err := h.in(ctx, h.Owners, h.Children, func(*world.World) error {
				return h.with(ctx, name, h.Owners, func(p *process) error {
					m, err := p.do(worker.Command{Do: worker.DoSettle})
					if err == nil {
						rows = append(rows, report.NewRow("converge", name, h.Owners, h.Children, m))
					}
					return err
				})
			})
			if err != nil {
				return err
			}
		}
		slices.SortFunc(rows, func(a, b report.Row) int { return cmp.Compare(a.Subject, b.Subject) })
		h.logf("converge: %.2f times the bare client", rows[1].Microseconds/rows[0].Microseconds)
		rounds = append(rounds, rows)
		slices.Reverse(pair)
	}
	slices.SortFunc(rounds, func(a, b []report.Row) int {
		return cmp.Compare(a[1].Microseconds/a[0].Microseconds, b[1].Microseconds/b[0].Microseconds)
	})
	h.rows = append(h.rows, rounds[len(rounds)/2]...)
	return nil
}

// settledWorld restarts the subject on a world that it has created, and changes the world.
func (h *Harness) settledWorld(ctx context.Context, s subject.Subject, w *world.World) error {
	return h.with(ctx, s.Name, h.Owners, func(p *process) error {
		m, err := p.do(worker.Command{Do: worker.DoSettle})
		if err != nil {
			return err
		}
		if h.takes(s, "restart") {
			row := report.NewRow("restart", s.Name, h.Owners, h.Children, m)
			if subject.IsKit(s.Name) {
				if err := h.kept(ctx, &row); err != nil {
					return err
				}
			}
			h.rows = append(h.rows, row)
		}
		for _, phase := range h.phases(ctx, w) {
			if !h.takes(s, phase.scenario) {
				continue
			}
			h.logf("%s: %s", phase.scenario, s.Name)
			if err := h.change(p, s.Name, phase); err != nil {
				return err
			}
		}
		return nil
	})
}

// kept compares the heap with that of a plain manager that reads the same world and has only the cache, and adds the row of that one.
func (h *Harness) kept(ctx context.Context, row *report.Row) error {
	return h.with(ctx, subject.CachedReads, h.Owners, func(p *process) error {
		floor, err := p.do(worker.Command{Do: worker.DoSettle})
		if err != nil {
			return err
		}
		perChild := (float64(row.HeapBytes) - float64(floor.HeapBytes)) / float64(h.Owners*h.Children)
		row.KeptBytesPerChild = &perChild
		h.rows = append(h.rows, report.NewRow("restart", subject.CachedReads, h.Owners, h.Children, floor))
		return nil
	})
}

// phase is a change of a settled world.
type phase struct {
	scenario string
	change   func() error
	finish   func(*report.Row) error
}

func (h *Harness) phases(ctx context.Context, w *world.World) []phase {
	var edited int
	var unrepaired func(context.Context) (int, error)
	nothing := func(*report.Row) error { return nil }
	return []phase{
		{scenario: "churn", change: func() error { return w.Churn(ctx, h.Churn) }, finish: nothing},
		{
			scenario: "drift",
			change: func() (err error) {
				edited, unrepaired, err = w.Drift(ctx, driftStride)
				return err
			},
			finish: func(row *report.Row) (err error) {
				row.Expected = edited
				row.Left, err = unrepaired(ctx)
				return err
			},
		},
		{scenario: "spec", change: func() error { return w.SetImage(ctx, "registry.example/widget:v2") }, finish: nothing},
	}
}

// change measures a subject's reaction to a change.
func (h *Harness) change(p *process, name string, phase phase) error {
	if _, err := p.do(worker.Command{Do: worker.DoReset}); err != nil {
		return err
	}
	if err := phase.change(); err != nil {
		return err
	}
	m, err := p.do(worker.Command{Do: worker.DoSettle})
	if err != nil {
		return err
	}
	row := report.NewRow(phase.scenario, name, h.Owners, h.Children, m)
	err = phase.finish(&row)
	h.rows = append(h.rows, row)
	return err
}

// order sorts the rows by scenario and size and keeps the order of the subjects.
func order(rows []report.Row) {
	scenarios := report.Scenarios()
	slices.SortStableFunc(rows, func(a, b report.Row) int {
		return cmp.Or(cmp.Compare(slices.Index(scenarios, a.Scenario), slices.Index(scenarios, b.Scenario)),
			cmp.Compare(a.Children, b.Children))
	})
}
