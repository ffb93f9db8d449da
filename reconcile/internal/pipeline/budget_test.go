package pipeline_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

var _ = Describe("The budget of a reconciliation", func() {
	It("blocks the apply and the prune of a plan with too many children, and the condition names the limit", func() {
		w := newWorld(widget.Spec{Count: 2}, &widgets{})
		w.budget = reconcile.Budget{MaxChildren: 3}
		w.restart(&widgets{})
		w.settle()
		w.update(func(o *widget.Widget) { o.Spec.Count = 4 })
		_, err := w.pass()
		Expect(err).NotTo(HaveOccurred(), "no retry can help")
		Expect(w.parts()).To(ConsistOf("demo-0", "demo-1"))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
		Expect(w.condition("ConfigValid").Message).To(ContainSubstring("the plan has 4 objects, at most 3 are allowed (Budget.MaxChildren): 4 ConfigMap"))

		w.update(func(o *widget.Widget) { o.Spec.Count = 3 })
		w.settle()
		Expect(w.parts()).To(HaveLen(3))
	})

	It("cancels a phase at the deadline, applies nothing, writes the status and retries", func() {
		slow := &slowWidgets{}
		w := newWorld(widget.Spec{Count: 1}, slow)
		w.budget = reconcile.Budget{Deadline: 100 * time.Millisecond}
		w.restart(slow)
		result, err := w.pass()
		Expect(err != nil || result.RequeueAfter > 0).To(BeTrue(), "it is tried again")
		Expect(w.parts()).To(BeEmpty())
		Expect(w.condition("DependenciesReachable").Message).To(ContainSubstring("the pass took longer than its deadline of 100ms"))
	})
})

// slowWidgets blocks until its context ends.
type slowWidgets struct{ widgets }

func (w *slowWidgets) FetchRemoteState(
	ctx context.Context, _ reconcile.Reader, _ reconcile.ReconcileContext[*widget.Widget],
) (f fetched) {
	<-ctx.Done()
	return f
}
