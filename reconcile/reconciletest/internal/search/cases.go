package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// testCase is one run with something going wrong.
type testCase struct {
	name  string
	base  *baseline
	plot  run.Plot
	final description.Step
	// act disturbs the world at rest and checks what becomes of it; nil is a case that compares its end.
	act func(ctx context.Context, d *disturbance)
	// always is for a case that is run whatever is drawn.
	always bool
	// system is that of the exploration, or one with more owners.
	system *description.Prepared
}

const (
	maxLag    = 3 // passes that a cache may be behind
	maxSeeds  = 3 // draws of each disorder of events
	manyCalls = 200
)

// cases lists what is to be tried, in an order that does not depend on chance.
func (e *explorer) cases() []testCase {
	var cases []testCase
	for _, b := range e.plots {
		if len(b.steps) > 3 || b.steps[0] != description.StepA || b.again() { //nolint:mnd // there, back and there again is for the end alone
			continue
		}
		cases = append(cases, e.faults(b)...)
		cases = append(cases, delays(b)...)
		cases = append(cases, disorders(b)...)
		cases = append(cases, e.refused(b)...)
		cases = append(cases, e.pairs(b)...)
		slow := b.varied("others are slow", run.Variation{Slow: true})
		slow.always = len(b.steps) <= 2 && b.last() != description.StepDelete //nolint:mnd // creation and change
		cases = append(cases, slow)
		cases = append(cases, b.varied("two instances overlap", run.Variation{Overlap: true}))
		if len(b.steps) > 1 {
			cases = append(cases, b.varied("restart into the cache of before", run.Variation{Behind: true}))
		}
	}
	slices.SortFunc(cases, func(a, b testCase) int { return compareStrings(a.name, b.name) })
	slices.SortStableFunc(cases, func(a, b testCase) int { return len(a.plot.Steps) - len(b.plot.Steps) }) // short stories first
	cases = append(e.disturbances(), cases...)
	if e.only != "" {
		return slices.DeleteFunc(cases, func(c testCase) bool { return c.name != e.only })
	}
	if e.limit > 0 && len(cases) > e.limit {
		e.out.Left = len(cases) - e.limit
		draw := rand.New(rand.NewPCG(e.seed, 0))
		draw.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		slices.SortStableFunc(cases, func(a, b testCase) int { return order(a.always) - order(b.always) })
		cases = cases[:e.limit]
	}
	return cases
}

// order is that of cases in a draw.
func order(always bool) int {
	if always {
		return 0
	}
	return 1
}

// again reports that the owners go and come back, which is for the end alone.
func (b *baseline) again() bool {
	return slices.Contains(b.steps[:len(b.steps)-1], description.StepDelete)
}

// drawing reports how many cases are drawn, 0 for all, and by which seed.
func drawing(system description.Prepared) (limit int, seed uint64, err error) {
	limit, seed = system.Cases, 1
	if text := os.Getenv(EnvCases); text == "all" {
		limit = 0
	} else if text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 {
			return 0, 0, fmt.Errorf("%s: got %q, want all or a number from 1", EnvCases, text)
		}
	}
	if text := os.Getenv(EnvSeed); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return 0, 0, fmt.Errorf("%s: got %q, want a number from 0", EnvSeed, text)
		}
	}
	return limit, seed, nil
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (b *baseline) last() description.Step { return b.steps[len(b.steps)-1] }

// varied is a case in which the last step of a baseline does not go smoothly.
func (b *baseline) varied(name string, v run.Variation) testCase {
	return testCase{
		name: b.name + ": " + name, base: b, final: b.last(),
		plot: run.Plot{Steps: b.steps, At: len(b.steps) - 1, Variant: v},
	}
}

// faults makes each request of the last step fail in every way that it can.
func (e *explorer) faults(b *baseline) []testCase {
	var cases []testCase
	for _, c := range b.calls[:min(len(b.calls), manyCalls)] {
		e.out.Calls++
		kinds := faultsOf(c)
		if c.Request.IsWrite() && len(b.steps) == 1 && b.last() == description.StepA && e.system.Singleton == nil {
			kinds = append(kinds, transport.FaultDeleted)
			if e.system.Change != nil {
				kinds = append(kinds, transport.FaultChanged)
			}
		}
		for _, kind := range kinds {
			v := run.Variation{Inject: []*transport.Injection{{Call: c.String(), Fault: kind}}}
			one := b.varied(fmt.Sprintf("%s of %s", kind, c), v)
			switch kind {
			case transport.FaultChanged:
				one.final = description.StepB
			case transport.FaultDeleted:
				one.final = description.StepDelete
			default: // the end stays that of the steps
			}
			cases = append(cases, one)
			if kind != transport.FaultCrash {
				continue
			}
			if len(b.steps) == 1 {
				cases = append(cases, b.varied(fmt.Sprintf("%s of %s, and again with the next write", kind, c),
					run.Variation{Inject: v.Inject, Again: true}))
			}
			for _, next := range e.system.After(b.last()) {
				unseen := b.varied(fmt.Sprintf("%s of %s, then %s", kind, c, next), v)
				unseen.plot.Steps = append(slices.Clone(b.steps), next)
				unseen.plot.Unseen, unseen.final = true, next
				cases = append(cases, unseen)
			}
		}
	}
	return cases
}

func faultsOf(c transport.Call) []transport.Fault {
	if !c.Request.IsWrite() {
		return []transport.Fault{transport.FaultError}
	}
	kinds := []transport.Fault{transport.FaultError, transport.FaultTimeout, transport.FaultConflict, transport.FaultCrash}
	if c.Request.Verb == "delete" {
		kinds = append(kinds, transport.FaultReplaced)
	}
	return kinds
}

// delays lets caches lag behind: all of them, and each kind alone.
func delays(b *baseline) []testCase {
	var cases []testCase
	for n := 1; n <= maxLag; n++ {
		cases = append(cases, b.varied(fmt.Sprintf("caches %d passes behind", n), run.Variation{Lag: map[string]int{"": n}}))
		for _, kind := range b.kinds {
			cases = append(cases, b.varied(fmt.Sprintf("cache of %s %d passes behind", kind, n), run.Variation{Lag: map[string]int{kind: n}}))
		}
	}
	return cases
}

// disorders delivers events as badly as it can happen. Dropped ones are made up for by a resync.
func disorders(b *baseline) []testCase {
	cases := []testCase{
		b.varied("events doubled", run.Variation{Shake: doubled}),
		b.varied("events reversed", run.Variation{Shake: reversed}),
		b.varied("lists reversed", run.Variation{Reversed: true}),
		b.varied("all events dropped", run.Variation{Shake: func([]view.Event) []view.Event { return nil }, Resync: true}),
	}
	for seed := uint64(1); seed <= maxSeeds; seed++ {
		cases = append(cases,
			b.varied(fmt.Sprintf("events shuffled by seed %d", seed), run.Variation{Shake: shuffled(seed)}),
			b.varied(fmt.Sprintf("events dropped by seed %d", seed), run.Variation{Shake: dropped(seed), Resync: true}))
	}
	return cases
}

func doubled(events []view.Event) []view.Event {
	out := make([]view.Event, 0, 2*len(events))
	for _, e := range events {
		again := e
		if e.After != nil {
			again.Before = e.After // as a resync would have it
		}
		out = append(out, e, again)
	}
	return out
}

func reversed(events []view.Event) []view.Event {
	out := slices.Clone(events)
	slices.Reverse(out)
	return out
}

func shuffled(seed uint64) func([]view.Event) []view.Event {
	draw := rand.New(rand.NewPCG(seed, seed))
	return func(events []view.Event) []view.Event {
		out := slices.Clone(events)
		draw.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
}

func dropped(seed uint64) func([]view.Event) []view.Event {
	draw := rand.New(rand.NewPCG(seed, seed))
	return func(events []view.Event) []view.Event {
		return slices.DeleteFunc(slices.Clone(events), func(view.Event) bool { return draw.IntN(2) == 0 }) //nolint:mnd // every other one
	}
}

// run carries out one case and checks how it ends.
func (e *explorer) run(ctx context.Context, c testCase) {
	v := c.plot.Variant
	v.Inject = slices.Clone(v.Inject) // each run has its own counts
	for n, fault := range v.Inject {
		own := *fault
		v.Inject[n] = &own
	}
	c.plot.Variant = v
	system := e.system
	if c.system != nil {
		system = *c.system
	}
	r := run.Play(ctx, system, c.plot, "")
	if r.Last != nil {
		defer r.Last.End()
	}
	e.mu.Lock()
	e.out.Cases++
	e.out.Passes += r.Passes
	if e.only != "" {
		e.out.Trace = r.Trace()
	}
	e.mu.Unlock()
	defer func() { e.checkPanic(c.name, r) }()
	if r.Err != nil {
		if _, restless := restlessness(r.Err); restless {
			e.find(c.name, finding.CheckRest, "%v", r.Err)
		} else if !errors.Is(r.Err, context.Canceled) {
			e.find(c.name, finding.CheckRun, "%v", r.Err)
		}
		return
	}
	if len(v.Inject) > 0 && !r.Struck {
		c.final = c.base.last() // nobody has changed or deleted the owner
	}
	e.miss(v.Inject)
	e.checkOnTheWay(c, r)
	if c.act != nil {
		c.act(ctx, &disturbance{explorer: e, name: c.name, run: r})
		return
	}
	if len(v.Inject) > 0 && v.Inject[0].Fault == transport.FaultReplaced {
		e.checkForeign(ctx, c, r)
		return
	}
	e.checkDeletes(c, r)
	state, err := r.World.State()
	if err != nil {
		e.find(c.name, finding.CheckRun, "%v", err)
		return
	}
	if e.compareAs(c.name, c.base, c.final, state) && e.system.Horizon == 0 {
		e.checkQuiet(ctx, c.name, r, false)
	}
}

// restlessness finds the error of passes without end.
func restlessness(err error) (*run.RestlessError, bool) {
	var restless *run.RestlessError
	return restless, errors.As(err, &restless)
}
