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

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/verdict"
)

// Explore is [Converge] for callers that want to look at the findings themselves. The error is about the system's
// description or the run without faults; what goes wrong in cases is a finding.
func Explore(ctx context.Context, system description.System) (*Exploration, error) {
	return ExploreUntil(ctx, system, nil)
}

// ExploreUntil ends early with a finding that is the one looked for; nil looks for all.
func ExploreUntil(ctx context.Context, described description.System, until func(finding.Finding) bool) (*Exploration, error) {
	system, err := description.Prepare(described)
	if err != nil {
		return nil, err
	}
	if system.Environment != nil {
		return nil, errOnServer
	}
	e := &explorer{Judge: verdict.New(system), only: os.Getenv(finding.EnvCase), out: &Exploration{}}
	e.Until = until
	if e.limit, e.seed, err = drawing(system); err != nil {
		return nil, err
	}
	if err := e.horizon(ctx); err != nil {
		return nil, err
	}
	if err := e.baselines(ctx); err != nil {
		return nil, err
	}
	if !e.unsteady() {
		e.explore(ctx)
	}
	e.out.Findings = e.Findings()
	if e.only != "" {
		e.out.Findings = slices.DeleteFunc(e.out.Findings, func(f finding.Finding) bool { return f.Case != e.only })
		if e.out.Cases == 0 && !slices.Contains(e.played, e.only) {
			return nil, fmt.Errorf("%s: the system has no case %q", finding.EnvCase, e.only)
		}
	}
	slices.SortStableFunc(e.out.Findings, func(a, b finding.Finding) int { return strings.Compare(a.Case, b.Case) })
	e.accept()
	e.out.Findings = slices.Concat(finding.ByCause(e.out.Findings)...)
	e.notes()
	return e.out, nil
}

var errOnServer = errors.New("converge: System.Environment is set, but cases run in the fake world only: leave it out, " +
	"and use a Scenario for the real API server")

// explore runs all cases, as many at a time as there are processors.
func (e *explorer) explore(ctx context.Context) {
	cases := e.cases()
	workers := max(1, min(runtime.GOMAXPROCS(0)+1, len(cases))) // one waits for time to pass
	queue := make(chan story.Case)
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
