package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

const (
	maxLag   = 3 // passes by which a cache lags
	maxSeeds = 3 // random orders of events
)

// delays returns the cases with lagging caches: all of them, and each kind alone.
func delays(s *baseline.Baseline) []baseline.Case {
	var cases []baseline.Case
	for n := 1; n <= maxLag; n++ {
		cases = append(cases, s.Varied(fmt.Sprintf("caches %d passes behind", n), run.Variation{Lag: map[string]int{"": n}}))
		for _, kind := range s.Kinds {
			cases = append(cases, s.Varied(fmt.Sprintf("cache of %s %d passes behind", kind, n), run.Variation{Lag: map[string]int{kind: n}}))
		}
	}
	for n := 1; n < maxLag; n++ { // as after an error, or an event about another object
		cases = append(cases, s.Varied(fmt.Sprintf("caches %d passes behind, and a pass after each pass that writes", n), run.Variation{
			Lag: map[string]int{"": n}, Eager: true,
		}))
	}
	return cases
}

// disorders returns the cases with dropped, duplicated and reordered events. A resync follows dropped ones.
func disorders(s *baseline.Baseline) []baseline.Case {
	cases := []baseline.Case{
		s.Varied("events doubled", run.Variation{Shake: doubled}),
		s.Varied("events reversed", run.Variation{Shake: reversed}),
		s.Varied("lists reversed", run.Variation{Reversed: true}),
		s.Varied("all events dropped", run.Variation{Shake: func([]view.Event) []view.Event { return nil }, Resync: true}),
	}
	for seed := uint64(1); seed <= maxSeeds; seed++ {
		cases = append(cases,
			s.Varied(fmt.Sprintf("events shuffled by seed %d", seed), run.Variation{Shake: shuffled(seed)}),
			s.Varied(fmt.Sprintf("events dropped by seed %d", seed), run.Variation{Shake: dropped(seed), Resync: true}))
	}
	return cases
}

func doubled(events []view.Event) []view.Event {
	out := make([]view.Event, 0, 2*len(events))
	for _, e := range events {
		again := e
		if e.After != nil {
			again.Before = e.After // as in a resync
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
