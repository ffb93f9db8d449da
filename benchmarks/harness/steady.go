package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/benchmarks/report"
	"github.com/reconcilekit/reconcilekit/benchmarks/subject"
	"github.com/reconcilekit/reconcilekit/benchmarks/worker"
	"github.com/reconcilekit/reconcilekit/benchmarks/world"
)

// steadies measures passes over one owner, for each number of children.
func (h *Harness) steadies(ctx context.Context) error {
	if !slices.Contains(h.Scenarios, "steady") {
		return nil
	}
	var names []string
	for _, s := range subject.All() {
		if slices.Contains(h.Subjects, s.Name) && slices.Contains(s.Scenarios, "steady") {
			names = append(names, s.Name)
		}
	}
	for _, children := range h.SteadyChildren {
		h.logf("steady: %d children", children)
		if err := h.steady(ctx, names, children); err != nil {
			return fmt.Errorf("steady with %d children: %w", children, err)
		}
	}
	return nil
}

// resting is a subject with an owner of its own in steady state.
type resting struct {
	name    string
	process *process
	world   *world.World
	runs    []*worker.Measurement
}

// steady measures all subjects in turns, so that other load on the machine affects all of them alike.
func (h *Harness) steady(ctx context.Context, names []string, children int) (err error) {
	var all []*resting
	defer func() {
		for _, r := range all {
			err = errors.Join(err, r.process.stop(), r.world.Remove(ctx))
		}
	}()
	for _, name := range names {
		r, err := h.rest(ctx, name, children)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	for range max(h.Runs, 1) {
		for _, r := range all {
			m, err := r.process.do(worker.Command{Do: worker.DoSteady, Owner: r.world.Owner(0)})
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			r.runs = append(r.runs, m)
		}
	}
	for _, r := range all {
		slices.SortFunc(r.runs, func(a, b *worker.Measurement) int { return int(a.CPU - b.CPU) })
		h.rows = append(h.rows, report.NewRow("steady", r.name, 1, children, r.runs[len(r.runs)/2]))
	}
	return nil
}

// rest starts a subject on an owner of its own. The baseline needs existing children.
func (h *Harness) rest(ctx context.Context, name string, children int) (*resting, error) {
	w, err := h.makeWorld(ctx, 1, children)
	if err != nil {
		return nil, err
	}
	if name == subject.CachedReads {
		if err := h.with(ctx, subject.Kit, 1, settled); err != nil {
			return nil, errors.Join(err, w.Remove(ctx))
		}
	}
	p, err := h.start(ctx, name, 1, true)
	if err != nil {
		return nil, errors.Join(err, w.Remove(ctx))
	}
	return &resting{name: name, process: p, world: w}, nil
}
