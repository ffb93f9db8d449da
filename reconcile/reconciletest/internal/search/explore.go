package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/checker"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

// Explore is [Converge] for callers that examine the findings themselves. The error is about the description of the system or the run
// without faults; faults of cases are findings.
func Explore(ctx context.Context, system description.System) (*Exploration, error) {
	return ExploreUntil(ctx, system, nil)
}

// ExploreUntil ends at a matching finding; nil finds all.
func ExploreUntil(ctx context.Context, described description.System, until func(finding.Finding) bool) (*Exploration, error) {
	system, err := description.Prepare(described)
	if err != nil {
		return nil, err
	}
	if system.Environment != nil {
		return nil, errOnServer
	}
	e := &explorer{Checker: checker.New(system), only: os.Getenv(finding.EnvCase), out: &Exploration{}}
	e.Until = until
	if e.limit, e.seed, err = drawing(system); err != nil {
		return nil, err
	}
	if err := e.horizon(ctx); err != nil {
		return nil, err
	}
	if err := e.addBaselines(ctx); err != nil {
		return nil, err
	}
	if !e.unsteady() {
		e.explore(ctx)
	}
	e.out.Findings = e.Findings()
	if e.only != "" {
		e.out.Findings = slices.DeleteFunc(e.out.Findings, func(f finding.Finding) bool { return f.Case != e.only })
		if e.out.Cases == 0 && !slices.Contains(e.executed, e.only) {
			return nil, fmt.Errorf("%s: the system has no case %q", finding.EnvCase, e.only)
		}
	}
	slices.SortStableFunc(e.out.Findings, func(a, b finding.Finding) int { return strings.Compare(a.Case, b.Case) })
	e.accept()
	e.out.Findings = slices.Concat(finding.ByCause(e.out.Findings)...)
	e.notes()
	return e.out, nil
}

var errOnServer = errors.New("converge: System.Environment is set, but cases run on the fake API server only: leave it out, " +
	"and use a Scenario for the real API server")

// explore runs all cases, with one goroutine per processor.
func (e *explorer) explore(ctx context.Context) {
	cases := e.cases()
	workers := max(1, min(runtime.GOMAXPROCS(0)+1, len(cases))) // one of them waits for time to pass
	queue := make(chan baseline.Case)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for c := range queue {
				e.run(ctx, c)
			}
		})
	}
	for _, c := range cases {
		if ctx.Err() != nil || e.Done() {
			break
		}
		queue <- c
	}
	close(queue)
	wg.Wait()
}
