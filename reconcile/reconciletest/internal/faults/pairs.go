package faults

import (
	"fmt"
	"math/rand/v2"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

const manyPairs = 40 // of faults, for each baseline

// pairs returns cases with two faults in one run: two writes of the last step, or one of them twice. The seed selects the pairs; a case
// that is requested by name is always included.
func (d *Draw) pairs(s *baseline.Baseline) []baseline.Case {
	if len(s.Steps) > 2 { //nolint:mnd // creation, change and deletion
		return nil
	}
	all := pairsOf(s.Calls[:min(len(s.Calls), baseline.ManyCalls)])
	if d.Only != "" {
		for n := range all.len() {
			if one := all.fail(s, n); one.Name == d.Only {
				return []baseline.Case{one}
			}
		}
		return nil
	}
	draw := rand.New(rand.NewPCG(d.Seed, uint64(all.len())))
	var cases []baseline.Case
	for known := map[int]bool{}; len(known) < min(all.len(), manyPairs); {
		if n := draw.IntN(all.len()); !known[n] {
			known[n] = true
			cases = append(cases, all.fail(s, n))
		}
	}
	d.Unpaired += all.len() - len(cases)
	return cases
}

// faultPairs are all combinations of faults of two writes.
type faultPairs struct {
	writes []transport.Call
	order  [][2]int // of the writes; the same twice is a retry
	kinds  []transport.Fault
}

func pairsOf(calls []transport.Call) faultPairs {
	p := faultPairs{kinds: []transport.Fault{transport.FaultError, transport.FaultTimeout, transport.FaultConflict, transport.FaultCrash}}
	for _, c := range calls {
		if !c.Request.IsWrite() {
			continue
		}
		p.writes = append(p.writes, c)
		for n := range p.writes {
			p.order = append(p.order, [2]int{n, len(p.writes) - 1})
		}
	}
	return p
}

func (p faultPairs) len() int { return len(p.order) * len(p.kinds) * len(p.kinds) }

// fail returns the case of one pair. After a crash another instance sends its requests, counted from 1.
func (p faultPairs) fail(s *baseline.Baseline, n int) baseline.Case {
	both := p.order[n/len(p.kinds)/len(p.kinds)]
	first, second := p.kinds[n/len(p.kinds)%len(p.kinds)], p.kinds[n%len(p.kinds)]
	one, next := p.writes[both[0]].String(), p.writes[both[1]].String()
	if both[0] == both[1] && first != transport.FaultCrash {
		next = p.writes[both[1]].Again()
	}
	return s.Varied(fmt.Sprintf("%s of %s, and %s of %s", first, one, second, next),
		run.Variation{Inject: []*transport.Injection{{Call: one, Fault: first}, {Call: next, Fault: second}}})
}
