package reconcile_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("An owner whose plan waits", func() {
	It("is not ready before all of it is there, and says what it waits for", func() {
		open := false
		w := newWorld(widget.Spec{Count: 1}, &widgets{plan: func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			plan.Apply(part(rc.Object, "late"), apply.WaitUntil(open, "the first part is ready"))
		}})
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-0"))
		ready := w.condition("Ready")
		Expect(ready.Status).To(Equal(metav1.ConditionFalse))
		Expect(ready.Reason).To(Equal("Progressing"))
		Expect(ready.Message).To(ContainSubstring("demo-late waits until the first part is ready"))

		open = true
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-0", "demo-late"))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))

		open = false
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-0", "demo-late"))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
	})
})
