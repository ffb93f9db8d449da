package faults

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// several is the number of consecutive rejections of a request: more than the retries of a client that tries twice.
const several = 3

// refused returns the cases in which each write of the last step is rejected until steady state, and the cases in which it is
// rejected several times in a row with another error and no event follows.
func (d *Draw) refused(s *baseline.Baseline) []baseline.Case {
	if d.System.Horizon > 0 {
		return nil // a scheduled request in between is another request
	}
	var cases []baseline.Case
	known := map[string]bool{}
	kinds := transport.Lasting()
	add := func(name, request string, kind transport.Fault, lasting int) {
		cases = append(cases, s.Varied(fmt.Sprintf(name, kind, request),
			run.Variation{Inject: []*transport.Injection{{Call: request, Fault: kind, Lasting: lasting}}}))
	}
	for n, c := range s.Calls[:min(len(s.Calls), baseline.ManyCalls)] {
		if request := c.Request.String(); c.Request.IsWrite() && !known[request] {
			known[request] = true
			add("%s always of %s", request, kinds[n%len(kinds)], transport.Forever)
			add("%s several times of %s", request, kinds[(n+several)%len(kinds)], several)
		}
	}
	return cases
}
