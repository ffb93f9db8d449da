package faults

import (
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
)

// Cases returns the cases of one story in a deterministic order.
func (d *Draw) Cases(s *story.Story) []story.Case {
	cases := slices.Concat(d.requests(s), delays(s), disorders(s), d.refused(s), d.pairs(s), d.interleave(s))
	slow := s.Varied("others are slow", run.Variation{Slow: true})
	slow.Always = len(s.Steps) <= 2 && s.Last() != description.StepDelete //nolint:mnd // creation and change
	cases = append(cases, slow, s.Varied("two instances overlap", run.Variation{Overlap: true}))
	if len(s.Steps) > 1 {
		cases = append(cases, behind(s)...)
	}
	return cases
}

// behind returns the cases in which the operator restarts with a cache that shows the state before the last step: of all kinds, and of
// each changed kind alone, because informers lag independently.
func behind(s *story.Story) []story.Case {
	cases := []story.Case{s.Varied("restart into the cache of before", run.Variation{Behind: true})}
	if len(s.Moved) < 2 { //nolint:mnd // one alone is all
		return cases
	}
	for _, kind := range s.Moved {
		cases = append(cases, s.Varied(fmt.Sprintf("restart into the cache of before, of %s alone", kind), run.Variation{Behind: true, Alone: kind}))
	}
	return cases
}
