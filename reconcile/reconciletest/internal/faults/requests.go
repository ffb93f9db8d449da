package faults

import (
	"fmt"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// requests returns the cases in which each request of the last step fails in each way.
func (d *Draw) requests(s *baseline.Baseline) []baseline.Case {
	var cases []baseline.Case
	for _, c := range s.Calls[:min(len(s.Calls), baseline.ManyCalls)] {
		d.Calls++
		kinds := faultsOf(c)
		if c.Request.IsWrite() && len(s.Steps) == 1 && s.Last() == description.StepA && d.System.Singleton == nil {
			kinds = append(kinds, transport.FaultDeleted)
			if d.System.Change != nil {
				kinds = append(kinds, transport.FaultChanged)
			}
		}
		for _, kind := range kinds {
			v := run.Variation{Inject: []*transport.Injection{{Call: c.String(), Fault: kind}}}
			one := s.Varied(fmt.Sprintf("%s of %s", kind, c), v)
			switch kind {
			case transport.FaultChanged:
				one.Final = description.StepB
			case transport.FaultDeleted:
				one.Final = description.StepDelete
			default: // the end is that of the steps
			}
			cases = append(cases, one)
			if kind != transport.FaultCrash {
				continue
			}
			if len(s.Steps) == 1 {
				cases = append(cases, s.Varied(fmt.Sprintf("%s of %s, and again with the next write", kind, c),
					run.Variation{Inject: v.Inject, Again: true}))
			}
			for _, next := range d.System.After(s.Last()) {
				unseen := s.Varied(fmt.Sprintf("%s of %s, then %s", kind, c, next), v)
				unseen.Spec.Steps = append(slices.Clone(s.Steps), next)
				unseen.Spec.Unseen, unseen.Final = true, next
				cases = append(cases, unseen)
			}
		}
	}
	return cases
}

// interleave returns the cases in which other passes run in the middle of the one that sends a request, before each write of the last step.
func (d *Draw) interleave(s *baseline.Baseline) []baseline.Case {
	if !s.Overlaps || len(s.Steps) > 2 { //nolint:mnd // creation, change and deletion
		return nil
	}
	var cases []baseline.Case
	for _, c := range s.Calls[:min(len(s.Calls), baseline.ManyCalls)] {
		if c.Request.IsWrite() {
			cases = append(cases, s.Varied(fmt.Sprintf("%s with %s", transport.FaultInterleave, c),
				run.Variation{Inject: []*transport.Injection{{Call: c.String(), Fault: transport.FaultInterleave}}}))
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
