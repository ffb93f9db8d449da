package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/drift"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/faults"
)

// cases lists the cases in a deterministic order.
func (e *explorer) cases() []baseline.Case {
	e.draw = faults.Draw{System: &e.System, Only: e.only, Seed: e.seed}
	var cases []baseline.Case
	for _, b := range e.Baselines {
		if len(b.Steps) > 3 || b.Steps[0] != description.StepA || b.Again() { //nolint:mnd // there, back and there again is for the end alone
			continue
		}
		cases = append(cases, e.draw.Cases(b)...)
	}
	slices.SortFunc(cases, func(a, b baseline.Case) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(cases, func(a, b baseline.Case) int { return len(a.Spec.Steps) - len(b.Spec.Steps) }) // short baselines first
	e.out.Calls = e.draw.Calls
	cases = append(drift.Cases(e.Checker), cases...)
	if e.only != "" {
		return slices.DeleteFunc(cases, func(c baseline.Case) bool { return c.Name != e.only })
	}
	if e.limit > 0 && len(cases) > e.limit {
		e.out.Left = len(cases) - e.limit
		draw := rand.New(rand.NewPCG(e.seed, 0))
		draw.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		slices.SortStableFunc(cases, func(a, b baseline.Case) int { return order(a.Always) - order(b.Always) })
		cases = cases[:e.limit]
	}
	return cases
}

// order returns the sort key of a case in a sample.
func order(always bool) int {
	if always {
		return 0
	}
	return 1
}

// Seed returns the random seed: the number in [EnvSeed], default 1.
func Seed() (uint64, error) {
	text := os.Getenv(EnvSeed)
	if text == "" {
		return 1, nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: got %q, want a number from 0", EnvSeed, text)
	}
	return seed, nil
}

// drawing returns the sample size, 0 for all, and the seed.
func drawing(system description.Prepared) (limit int, seed uint64, err error) {
	limit = system.Cases
	if text := os.Getenv(EnvCases); text == "all" {
		limit = 0
	} else if text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 {
			return 0, 0, fmt.Errorf("%s: got %q, want all or a number from 1", EnvCases, text)
		}
	}
	if seed, err = Seed(); err != nil {
		return 0, 0, err
	}
	return limit, seed, nil
}
