package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/benchmarks/report"
	"github.com/reconcilekit/reconcilekit/benchmarks/worker"
	"github.com/reconcilekit/reconcilekit/benchmarks/world"
)

const (
	// down is the duration of the API server's outage.
	down = 3 * time.Second
	// recovery is the timeout for a world to match its plan.
	recovery = 30 * time.Minute
)

// Server is the API server of the benchmark.
type Server interface {
	// Kill kills the server.
	Kill(ctx context.Context) error
	// Start restarts it with the same data, and returns when it serves.
	Start() error
}

// outage kills the API server while a subject creates its children, stops the subject, changes the spec of all owners, and kills the API
// server again while the next process of the subject applies the change. Then it compares the world with the plan of each owner.
func (h *Harness) outage(ctx context.Context, name string) error {
	if h.Server == nil {
		h.logf("outage: skipped, the benchmark did not start the API server")
		return nil
	}
	h.logf("outage: %s, %d owners x %d children", name, h.Owners, h.Children)
	return h.in(ctx, h.Owners, h.Children, func(w *world.World) error {
		total := h.Owners * h.Children
		err := h.with(ctx, name, h.Owners, func(p *process) error {
			if err := h.interrupt(ctx, w, total/3); err != nil {
				return err
			}
			if err := h.reach(ctx, w, total*2/3); err != nil {
				return err
			}
			return p.terminate()
		})
		if err != nil {
			return err
		}
		if err := w.SetImage(ctx, "registry.example/widget:v2"); err != nil {
			return err
		}
		return h.with(ctx, name, h.Owners, func(p *process) error {
			if err := h.interrupt(ctx, w, total*5/6); err != nil {
				return err
			}
			if err := h.right(ctx, w); err != nil {
				return err
			}
			m, err := p.do(worker.Command{Do: worker.DoSettle})
			if err != nil {
				return err
			}
			row := report.NewRow("outage", name, h.Owners, h.Children, m)
			row.Left, err = w.Wrong(ctx)
			h.rows = append(h.rows, row)
			return err
		})
	})
}

// interrupt kills the API server once the number of children is reached, and restarts it.
func (h *Harness) interrupt(ctx context.Context, w *world.World, children int) error {
	if err := h.reach(ctx, w, children); err != nil {
		return err
	}
	if err := h.Server.Kill(ctx); err != nil {
		return err
	}
	h.logf("outage: the API server is killed at %d children", children)
	time.Sleep(down)
	return h.Server.Start()
}

// reach waits until the number of children is reached.
func (h *Harness) reach(ctx context.Context, w *world.World, children int) error {
	return until(ctx, fmt.Sprintf("%d children", children), func() (bool, error) {
		missing, err := w.Orphans(ctx, h.Children)
		return h.Owners*h.Children+missing >= children, err
	})
}

// right waits until the world matches its plan.
func (h *Harness) right(ctx context.Context, w *world.World) error {
	return until(ctx, "all children as planned", func() (bool, error) {
		wrong, err := w.Wrong(ctx)
		return wrong == 0, err
	})
}

// until calls done repeatedly until it returns true or the timeout ends with its last error.
func until(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, recovery)
	defer cancel()
	for {
		reached, err := done()
		if err == nil && reached {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("wait for %s: %w", what, ctx.Err()), err)
		case <-time.After(time.Second):
		}
	}
}
