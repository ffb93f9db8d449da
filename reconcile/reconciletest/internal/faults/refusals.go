package faults

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/story"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// several is how often in a row a request is refused that is let through afterwards: more than the retries of those who try twice.
const several = 3

// refused refuses each write of the last step until everything is at rest and lets it pass then, and refuses it several times in a
// row, by another answer, when nobody wakes the operator afterwards.
func (d *Draw) refused(s *story.Story) []story.Case {
	if d.System.Horizon > 0 {
		return nil // what is due meanwhile is another request
	}
	var cases []story.Case
	known := map[string]bool{}
	kinds := transport.Lasting()
	add := func(name, request string, kind transport.Fault, lasting int) {
		cases = append(cases, s.Varied(fmt.Sprintf(name, kind, request),
			run.Variation{Inject: []*transport.Injection{{Call: request, Fault: kind, Lasting: lasting}}}))
	}
	for n, c := range s.Calls[:min(len(s.Calls), story.ManyCalls)] {
		if request := c.Request.String(); c.Request.IsWrite() && !known[request] {
			known[request] = true
			add("%s for good of %s", request, kinds[n%len(kinds)], transport.Forever)
			add("%s several times of %s", request, kinds[(n+several)%len(kinds)], several)
		}
	}
	return cases
}
