package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
)

// testCase is one run with something going wrong.
type testCase struct {
	name  string
	base  *baseline
	plot  plot
	final step
	// act disturbs the world at rest and checks what becomes of it; nil is a case that compares its end.
	act func(ctx context.Context, d *disturbance)
	// always is for a case that is run whatever is drawn.
	always bool
	// system is that of the exploration, or one with more owners.
	system *prepared
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
		if len(b.steps) > 3 || b.steps[0] != stepA || b.again() { //nolint:mnd // there, back and there again is for the end alone
			continue
		}
		cases = append(cases, e.faults(b)...)
		cases = append(cases, delays(b)...)
		cases = append(cases, disorders(b)...)
		cases = append(cases, e.refused(b)...)
		slow := b.varied("others are slow", variation{slow: true})
		slow.always = len(b.steps) <= 2 && b.last() != stepDelete //nolint:mnd // creation and change
		cases = append(cases, slow)
		cases = append(cases, b.varied("two instances overlap", variation{overlap: true}))
		if len(b.steps) > 1 {
			cases = append(cases, b.varied("restart into the cache of before", variation{behind: true}))
		}
	}
	slices.SortFunc(cases, func(a, b testCase) int { return compareStrings(a.name, b.name) })
	slices.SortStableFunc(cases, func(a, b testCase) int { return len(a.plot.steps) - len(b.plot.steps) }) // short stories first
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
func (b *baseline) again() bool { return slices.Contains(b.steps[:len(b.steps)-1], stepDelete) }

// refused refuses each write of the last step until everything is at rest, and lets it pass then.
func (e *explorer) refused(b *baseline) []testCase {
	if e.system.Horizon > 0 {
		return nil // what is due meanwhile is another request
	}
	var cases []testCase
	known := map[string]bool{}
	kinds := lasting()
	for n, c := range b.calls[:min(len(b.calls), manyCalls)] {
		if request := c.request.String(); c.request.IsWrite() && !known[request] {
			known[request] = true
			kind := kinds[n%len(kinds)]
			cases = append(cases, b.varied(fmt.Sprintf("%s for good of %s", kind, request),
				variation{inject: &injection{call: request, fault: kind, lasting: forever}}))
		}
	}
	return cases
}

// drawing reports how many cases are drawn, 0 for all, and by which seed.
func drawing(system prepared) (limit int, seed uint64, err error) {
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

func (b *baseline) last() step { return b.steps[len(b.steps)-1] }

// varied is a case in which the last step of a baseline does not go smoothly.
func (b *baseline) varied(name string, v variation) testCase {
	return testCase{
		name: b.name + ": " + name, base: b, final: b.last(),
		plot: plot{steps: b.steps, at: len(b.steps) - 1, variant: v},
	}
}

// faults makes each request of the last step fail in every way that it can.
func (e *explorer) faults(b *baseline) []testCase {
	var cases []testCase
	for _, c := range b.calls[:min(len(b.calls), manyCalls)] {
		e.out.Calls++
		kinds := faultsOf(c)
		if c.request.IsWrite() && len(b.steps) == 1 && b.last() == stepA && e.system.Singleton == nil {
			kinds = append(kinds, faultDeleted)
			if e.system.Change != nil {
				kinds = append(kinds, faultChanged)
			}
		}
		for _, kind := range kinds {
			v := variation{inject: &injection{call: c.String(), fault: kind}}
			one := b.varied(fmt.Sprintf("%s of %s", kind, c), v)
			switch kind {
			case faultChanged:
				one.final = stepB
			case faultDeleted:
				one.final = stepDelete
			default: // the end stays that of the steps
			}
			cases = append(cases, one)
			if kind != faultCrash {
				continue
			}
			if len(b.steps) == 1 {
				cases = append(cases, b.varied(fmt.Sprintf("%s of %s, and again with the next write", kind, c),
					variation{inject: &injection{call: c.String(), fault: kind}, again: true}))
			}
			for _, next := range e.system.after(b.last()) {
				unseen := b.varied(fmt.Sprintf("%s of %s, then %s", kind, c, next), v)
				unseen.plot.steps = append(slices.Clone(b.steps), next)
				unseen.plot.unseen, unseen.final = true, next
				cases = append(cases, unseen)
			}
		}
	}
	return cases
}

func faultsOf(c call) []fault {
	if !c.request.IsWrite() {
		return []fault{faultError}
	}
	kinds := []fault{faultError, faultTimeout, faultConflict, faultCrash}
	if c.request.Verb == "delete" {
		kinds = append(kinds, faultReplaced)
	}
	return kinds
}

// delays lets caches lag behind: all of them, and each kind alone.
func delays(b *baseline) []testCase {
	var cases []testCase
	for n := 1; n <= maxLag; n++ {
		cases = append(cases, b.varied(fmt.Sprintf("caches %d passes behind", n), variation{lag: map[string]int{"": n}}))
		for _, kind := range b.kinds {
			cases = append(cases, b.varied(fmt.Sprintf("cache of %s %d passes behind", kind, n), variation{lag: map[string]int{kind: n}}))
		}
	}
	return cases
}

// disorders delivers events as badly as it can happen. Dropped ones are made up for by a resync.
func disorders(b *baseline) []testCase {
	cases := []testCase{
		b.varied("events doubled", variation{shake: doubled}),
		b.varied("events reversed", variation{shake: reversed}),
		b.varied("lists reversed", variation{reversed: true}),
		b.varied("all events dropped", variation{shake: func([]event) []event { return nil }, resync: true}),
	}
	for seed := uint64(1); seed <= maxSeeds; seed++ {
		cases = append(cases,
			b.varied(fmt.Sprintf("events shuffled by seed %d", seed), variation{shake: shuffled(seed)}),
			b.varied(fmt.Sprintf("events dropped by seed %d", seed), variation{shake: dropped(seed), resync: true}))
	}
	return cases
}

func doubled(events []event) []event {
	out := make([]event, 0, 2*len(events))
	for _, e := range events {
		again := e
		if e.after != nil {
			again.before = e.after // as a resync would have it
		}
		out = append(out, e, again)
	}
	return out
}

func reversed(events []event) []event {
	out := slices.Clone(events)
	slices.Reverse(out)
	return out
}

func shuffled(seed uint64) func([]event) []event {
	draw := rand.New(rand.NewPCG(seed, seed))
	return func(events []event) []event {
		out := slices.Clone(events)
		draw.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
}

func dropped(seed uint64) func([]event) []event {
	draw := rand.New(rand.NewPCG(seed, seed))
	return func(events []event) []event {
		return slices.DeleteFunc(slices.Clone(events), func(event) bool { return draw.IntN(2) == 0 }) //nolint:mnd // every other one
	}
}

// run carries out one case and checks how it ends.
func (e *explorer) run(ctx context.Context, c testCase) {
	v := c.plot.variant
	if v.inject != nil { // each run has its own count
		again := *v.inject
		v.inject = &again
		c.plot.variant = v
	}
	system := e.system
	if c.system != nil {
		system = *c.system
	}
	r := play(ctx, system, c.plot, "")
	if r.last != nil {
		defer r.last.end()
	}
	e.mu.Lock()
	e.out.Cases++
	e.out.Passes += r.passes
	if e.only != "" {
		e.out.Trace = r.trace()
	}
	e.mu.Unlock()
	defer func() { e.checkPanic(c.name, r) }()
	if r.err != nil {
		if _, restless := restlessness(r.err); restless {
			e.find(c.name, CheckRest, "%v", r.err)
		} else if !errors.Is(r.err, context.Canceled) {
			e.find(c.name, CheckRun, "%v", r.err)
		}
		return
	}
	e.checkOnTheWay(c, r)
	if c.act != nil {
		c.act(ctx, &disturbance{explorer: e, name: c.name, run: r})
		return
	}
	if v.inject != nil && v.inject.fault == faultReplaced {
		e.checkForeign(ctx, c, r)
		return
	}
	e.checkDeletes(c, r)
	state, err := r.world.state()
	if err != nil {
		e.find(c.name, CheckRun, "%v", err)
		return
	}
	if e.compareAs(c.name, c.base, c.final, state) && e.system.Horizon == 0 {
		e.checkQuiet(ctx, c.name, r, false)
	}
}

// restlessness finds the error of passes without end.
func restlessness(err error) (*RestlessError, bool) {
	var restless *RestlessError
	return restless, errors.As(err, &restless)
}
