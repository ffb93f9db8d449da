package faults

import (
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
)

// Cases are those of one story, in an order that does not depend on chance.
func (d *Draw) Cases(s *story.Story) []story.Case {
	cases := slices.Concat(d.requests(s), delays(s), disorders(s), d.refused(s), d.pairs(s), d.beside(s))
	slow := s.Varied("others are slow", run.Variation{Slow: true})
	slow.Always = len(s.Steps) <= 2 && s.Last() != description.StepDelete //nolint:mnd // creation and change
	cases = append(cases, slow, s.Varied("two instances overlap", run.Variation{Overlap: true}))
	if len(s.Steps) > 1 {
		cases = append(cases, behind(s)...)
	}
	return cases
}

// behind starts the operator anew with a cache that shows what was there before the last step: of all kinds, and of each alone that the step
// has changed, as each informer lags for itself.
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
