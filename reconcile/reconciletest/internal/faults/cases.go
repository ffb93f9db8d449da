package faults

import (
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

// Cases returns the cases of one baseline in a deterministic order.
func (d *Draw) Cases(s *baseline.Baseline) []baseline.Case {
	cases := slices.Concat(d.requests(s), delays(s), disorders(s), d.refused(s), d.pairs(s), d.interleave(s))
	slow := s.Varied("other controllers are slow", run.Variation{Slow: true})
	slow.Always = len(s.Steps) <= 2 && s.Last() != description.StepDelete //nolint:mnd // creation and change
	cases = append(cases, slow, s.Varied("two instances overlap", run.Variation{Overlap: true}))
	if len(s.Steps) > 1 {
		cases = append(cases, behind(s)...)
	}
	return cases
}

// behind returns the cases in which the operator restarts with a cache that shows the state before the last step: of all kinds, and of
// each changed kind alone, because informers lag independently.
func behind(s *baseline.Baseline) []baseline.Case {
	cases := []baseline.Case{s.Varied("restart with the previous cache", run.Variation{Behind: true})}
	if len(s.Moved) < 2 { //nolint:mnd // one alone is all
		return cases
	}
	for _, kind := range s.Moved {
		cases = append(cases, s.Varied(fmt.Sprintf("restart with the previous cache, of %s alone", kind), run.Variation{Behind: true, Alone: kind}))
	}
	return cases
}
