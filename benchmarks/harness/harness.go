package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/reconcilekit/reconcilekit/benchmarks/report"
	"github.com/reconcilekit/reconcilekit/benchmarks/subject"
	"github.com/reconcilekit/reconcilekit/benchmarks/worker"
	"github.com/reconcilekit/reconcilekit/benchmarks/world"
)

const (
	driftStride = 101 // about 1 %, and not a multiple of the number of kinds
	pruneFrom   = 10
	pruneTo     = 3
)

// Harness is one run of the benchmark. All fields are required, except for Log, Profile and Server.
type Harness struct {
	// Config and Kubeconfig identify the API server; Kubeconfig is the path of a file.
	Config     *rest.Config
	Kubeconfig string
	// Prefix is the prefix of the namespaces.
	Prefix string
	// Scenarios and Subjects are the scenarios and subjects to run.
	Scenarios, Subjects []string
	// Owners and Children are the number of owners and of each owner's children, Churn the number of status updates.
	Owners, Children, Churn int
	// Foreign is the number of unrelated Secrets and ConfigMaps in the scenario foreign.
	Foreign int
	// SteadyChildren are the numbers of children in the scenario steady.
	SteadyChildren []int
	// Runs is the number of runs of the scenario steady, Rounds that of converge for reconcilekit and the bare client. The results are
	// medians.
	Runs, Rounds int
	// Server is the API server if the benchmark has started it; otherwise the scenario outage is skipped.
	Server Server
	// Profile is a folder for CPU profiles of the workers. Optional.
	Profile string
	// Log receives progress messages.
	Log io.Writer

	worlds int
	rows   []report.Row
}

// Run runs all scenarios and returns the rows, also those before an error.
func (h *Harness) Run(ctx context.Context) ([]report.Row, error) {
	if err := errors.Join(h.steadies(ctx), h.compare(ctx)); err != nil {
		return h.rows, err
	}
	for _, s := range subject.All() {
		if !slices.Contains(h.Subjects, s.Name) {
			continue
		}
		if err := h.subject(ctx, s); err != nil {
			return h.rows, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	order(h.rows)
	return h.rows, nil
}

func (h *Harness) subject(ctx context.Context, s subject.Subject) error {
	if h.takes(s, "converge", "restart", "churn", "drift", "spec") {
		if err := h.world(ctx, s); err != nil {
			return err
		}
	}
	if h.takes(s, "prune") {
		if err := h.prune(ctx, s.Name); err != nil {
			return err
		}
	}
	if h.takes(s, "foreign") {
		if err := h.foreign(ctx, s.Name); err != nil {
			return err
		}
	}
	if h.takes(s, "outage") {
		return h.outage(ctx, s.Name)
	}
	return nil
}

// takes reports whether the subject runs in one of the scenarios of this run.
func (h *Harness) takes(s subject.Subject, scenarios ...string) bool {
	return slices.ContainsFunc(scenarios, func(name string) bool {
		return slices.Contains(h.Scenarios, name) && slices.Contains(s.Scenarios, name)
	})
}

func (h *Harness) logf(format string, args ...any) {
	if h.Log != nil {
		fmt.Fprintf(h.Log, format+"\n", args...)
	}
}

// in creates a world, calls do with it, and removes it.
func (h *Harness) in(ctx context.Context, owners, children int, do func(*world.World) error) error {
	w, err := h.makeWorld(ctx, owners, children)
	if err != nil {
		return err
	}
	err = do(w)
	return errors.Join(err, w.Remove(ctx))
}

func (h *Harness) makeWorld(ctx context.Context, owners, children int) (*world.World, error) {
	h.worlds++
	w, err := world.New(ctx, h.Config, fmt.Sprintf("%s-%d", h.Prefix, h.worlds), owners, children)
	if err != nil {
		return nil, fmt.Errorf("create the children: %w", err)
	}
	return w, nil
}

// with starts a worker, calls do with it, and stops it.
func (h *Harness) with(ctx context.Context, subject string, owners int, do func(*process) error) error {
	p, err := h.start(ctx, subject, owners, false)
	if err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	err = do(p)
	return errors.Join(err, p.stop())
}

func settled(p *process) error {
	_, err := p.do(worker.Command{Do: worker.DoSettle})
	return err
}

// foreign restarts a subject on a world without and with unrelated objects.
func (h *Harness) foreign(ctx context.Context, name string) error {
	h.logf("foreign: %s, %d owners x %d children, %d objects of others", name, h.Owners, h.Children, h.Foreign)
	return h.in(ctx, h.Owners, h.Children, func(w *world.World) error {
		var alone, beside *worker.Measurement
		settle := func(into **worker.Measurement) error {
			return h.with(ctx, name, h.Owners, func(p *process) (err error) {
				*into, err = p.do(worker.Command{Do: worker.DoSettle})
				return err
			})
		}
		for _, step := range []func() error{
			func() error { return settle(&alone) }, // it creates the children
			func() error { return settle(&alone) },
			func() error { return w.Foreign(ctx, h.Foreign) },
			func() error { return settle(&beside) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		row := report.NewRow("foreign", name, h.Owners, h.Children, beside)
		row.HeapTimes = float64(beside.HeapBytes) / float64(alone.HeapBytes)
		h.rows = append(h.rows, row)
		h.logf("foreign: %s: heap of %d MiB, %.2f times that without them", name, beside.HeapBytes>>20, row.HeapTimes)
		return nil
	})
}

// prune removes most children from the plans of some owners.
func (h *Harness) prune(ctx context.Context, name string) error {
	const owners = 20
	h.logf("prune: %s", name)
	return h.in(ctx, owners, pruneFrom, func(w *world.World) error {
		return h.with(ctx, name, owners, func(p *process) error {
			if err := settled(p); err != nil {
				return err
			}
			if _, err := p.do(worker.Command{Do: worker.DoReset}); err != nil {
				return err
			}
			if err := w.SetCount(ctx, pruneTo); err != nil {
				return err
			}
			m, err := p.do(worker.Command{Do: worker.DoSettle})
			if err != nil {
				return err
			}
			row := report.NewRow("prune", name, owners, pruneFrom, m)
			row.Left, err = w.Orphans(ctx, pruneTo)
			h.rows = append(h.rows, row)
			return err
		})
	})
}
