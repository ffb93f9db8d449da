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
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// EnvCases and EnvSeed name the environment variables that take the place of System.Cases ("all" for no limit) and of the
// seed by which as many cases are drawn, which is 1.
const (
	EnvCases = "RECONCILETEST_CASES"
	EnvSeed  = "RECONCILETEST_SEED"
)

// Exploration is what [Explore] has done and found.
type Exploration struct {
	// Calls is K, the number of requests that were made to fail, one in each case: the writes and live reads of the runs
	// without faults.
	Calls int
	// Cases is the number of runs with a fault, Left that of those that were not drawn (see System.Cases).
	Cases, Left int
	// Passes is the number of passes of all runs.
	Passes int
	// Horizon is how long each step lasts in the time of the test, for a system that acts at times of its own; 0 for others.
	Horizon time.Duration
	// Notes are what was not tried, and what was accepted.
	Notes []string
	// Trace reports what was sent in the one case that [EnvCase] has asked for.
	Trace []string
	// Findings are sorted: those without a fault first, then by how many cases have the same cause. None means that the system
	// converges.
	Findings []finding.Finding
}

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
	e := &explorer{system: system, until: until, only: os.Getenv(finding.EnvCase), out: &Exploration{}, ends: map[description.Step]*end{}, drawn: drawn{}, stored: map[string]map[string]bool{}}
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

// explorer carries out an exploration.
type explorer struct {
	system description.Prepared
	only   string
	limit  int // of cases, 0 for none
	seed   uint64
	probe  *world.World              // step A at rest
	pair   *description.Prepared     // the system with a second owner, when that makes no difference to the first
	played []string                  // the runs without faults
	ends   map[description.Step]*end // of the runs without faults
	plots  []*baseline
	drawn  drawn
	stored map[string]map[string]bool // what the runs without faults have stored, by object

	until func(finding.Finding) bool // ends the exploration

	mu       sync.Mutex
	out      *Exploration
	enough   bool
	missed   int // faults whose request did not come again
	second   int // of them the second of two
	unpaired int // pairs of faults that were not drawn
}

// end is how the run without faults ends that has the last step alone.
type end struct {
	state world.State
}

// baseline is a run without faults whose calls are made to fail.
type baseline struct {
	name    string
	steps   []description.Step
	calls   []transport.Call
	deleted map[string]bool
	kinds   []string // of the caches
	present []string // kinds of which there was an object
	passes  int
	state   world.State
	reads   []string         // of the cache, by passes
	live    []transport.Call // reads past the cache
}

// find notes a finding.
func (e *explorer) find(name string, check finding.Check, format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	found := finding.Finding{Case: name, Check: check, Message: fmt.Sprintf(format, args...)}
	e.out.Findings = append(e.out.Findings, found)
	e.enough = e.enough || e.until != nil && e.until(found)
}

// miss counts the faults of a run that did not happen.
func (e *explorer) miss(faults []*transport.Injection) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n, fault := range faults {
		switch {
		case fault.Happened():
		case n == 0:
			e.missed++
		default:
			e.second++
		}
	}
}

// done reports that what was looked for is found.
func (e *explorer) done() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.enough
}

// baselines runs the plots without faults.
func (e *explorer) baselines(ctx context.Context) error {
	for _, steps := range e.system.Plots() {
		if e.done() {
			return nil
		}
		if err := e.baseline(ctx, steps...); err != nil {
			return err
		}
	}
	return e.another(ctx)
}

// horizon gives a system one that would never come to an end: eight of the changes that it makes at times of its own.
func (e *explorer) horizon(ctx context.Context) error {
	if e.system.Horizon > 0 {
		return nil
	}
	r := run.Play(ctx, e.system, run.Plot{Steps: []description.Step{description.StepA}}, "")
	if r.Last == nil {
		return r.Err
	}
	defer r.Last.End()
	if r.World.Perpetual {
		lasted := r.World.Clock.Now().Sub(r.World.Began)
		// Not with the last change itself: what fails then must have time to be tried again.
		e.system.Horizon = lasted + min(run.Quiet, lasted/(2*run.MaxFirings))
		e.out.Horizon = e.system.Horizon
	}
	if r.Err == nil {
		e.probe = r.World
	}
	return nil
}

// baseline runs one plot without faults and checks it. The first with a given last step decides what the end has to be.
func (e *explorer) baseline(ctx context.Context, steps ...description.Step) error {
	p := run.Plot{Steps: steps, At: len(steps) - 1, Listen: len(steps) == 1}
	r := run.Play(ctx, e.system, p, "")
	if r.Last != nil {
		defer r.Last.End()
	}
	name := "no fault, " + strings.Join(stepNames(steps), "-")
	e.played = append(e.played, name)
	if r.Err != nil {
		if _, restless := restlessness(r.Err); restless {
			e.find(name, finding.CheckRest, "%v", r.Err)
			return nil
		}
		return fmt.Errorf("run without faults (%s): %w", name, r.Err)
	}
	b := &baseline{
		name: strings.Join(stepNames(steps), "-"), steps: steps, calls: r.Calls, deleted: r.Deleted(), passes: r.Passes,
		kinds: r.Last.View.Names(),
	}
	for _, gvk := range r.World.Kinds() {
		b.present = append(b.present, gvk.Kind)
	}
	e.out.Passes += r.Passes
	last := steps[len(steps)-1]
	state, err := r.World.State()
	if err != nil {
		return err
	}
	b.reads = r.Last.View.Reads.Names()
	for _, c := range r.Calls {
		if !c.Request.IsWrite() && c.Request.Verb != "watch" {
			b.live = append(b.live, c)
		}
	}
	switch {
	case e.ends[last] == nil:
		if err := e.twin(ctx, p, state); err != nil {
			return err
		}
		e.drawn.mask(state)
		e.ends[last] = &end{state: state}
	case e.system.Horizon == 0 && b.again() && e.system.Singleton == nil:
		if err := e.compareReborn(ctx, name, r, state); err != nil {
			return err
		}
	case e.system.Horizon == 0:
		e.compare(name, last, state)
	}
	e.drawn.mask(state)
	b.state = state
	if err := e.learn(r); err != nil {
		return err
	}
	e.checkSecrets(name, r)
	e.checkEarly(name, r)
	e.checkRefused(name, r)
	e.checkInvariants(name, r)
	e.checkStatus(name, r)
	if last == description.StepDelete && e.system.Singleton == nil {
		e.checkOrphans(ctx, name, state)
	}
	if e.system.Horizon == 0 {
		e.checkSteady(name, r)
	}
	e.checkQuiet(ctx, name, r, true)
	e.plots = append(e.plots, b)
	return nil
}

func stepNames(steps []description.Step) []string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = string(s)
	}
	return names
}

// unsteady reports that already the runs without faults have no end that others could be compared with.
func (e *explorer) unsteady() bool {
	return slices.ContainsFunc(e.out.Findings, func(f finding.Finding) bool {
		return f.Check == finding.CheckRest && !strings.HasPrefix(f.Case, besideName)
	})
}

// explore runs all cases, as many at a time as there are processors.
func (e *explorer) explore(ctx context.Context) {
	cases := e.cases()
	workers := max(1, min(runtime.GOMAXPROCS(0)+1, len(cases))) // one waits for time to pass
	queue := make(chan testCase)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for c := range queue {
				e.run(ctx, c)
			}
		})
	}
	for _, c := range cases {
		if ctx.Err() != nil || e.done() {
			break
		}
		queue <- c
	}
	close(queue)
	wg.Wait()
}
