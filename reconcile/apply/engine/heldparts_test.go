package engine_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("Parts of shared objects whose prune the guard blocks", func() {
	It("cause no requests in steady state, and are read again before they are released", func() {
		w := newWorld()
		shared := func(n int) func() apply.Plan {
			return func() apply.Plan {
				var p apply.Plan
				for i := range n {
					p.Apply(configMap(fmt.Sprintf("shared-%d", i), "1"), apply.Shared)
				}
				return p
			}
		}
		w.converge(shared(6))
		w.held(shared(0)(), apply.ReasonTooMany)
		for range 3 {
			result, sent := w.pass(shared(0)())
			Expect(result.PruneBlocked).To(HaveOccurred())
			Expect(sent).To(BeEmpty())
		}
		By("adding a part of another owner to one of them")
		first := w.owner
		w.owner = w.newOwner("second")
		w.converge(shared(1))
		w.owner = first
		w.touchSpec()
		w.converge(shared(0))
		Expect(w.exists(configMap("shared-0", ""))).To(BeTrue())
		Expect(w.exists(configMap("shared-1", ""))).To(BeFalse())
	})
})
