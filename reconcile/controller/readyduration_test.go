package controller_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("The time to Ready", func() {
	It("is recorded once for each change that the process observed", func(ctx SpecContext) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		Expect(c.Create(ctx, newWidget(namespace, "before"))).To(Succeed())
		p := &probe{}
		runs{}.start(namespace, controller.New("timed", p).Options(settings()).Build().SetupWithManager)
		counted := func() int {
			return metric("reconcilekit_ready_duration_seconds", map[string]string{"controller": "timed"})
		}
		p.settled(ctx, "before")
		Expect(counted()).To(BeZero(), "of an owner that was there before the start")

		owner := newWidget(namespace, "new")
		Expect(c.Create(ctx, owner)).To(Succeed())
		Eventually(counted).Should(Equal(1))
		Expect(change(ctx, c, owner, func(w *widget.Widget) { w.Spec.Count++ })).To(Succeed())
		Eventually(counted).Should(Equal(2))
		Expect(change(ctx, c, owner, func(w *widget.Widget) { w.Labels = map[string]string{"a": "b"} })).To(Succeed())
		p.settled(ctx, "new")
		Expect(counted()).To(Equal(2), "after a change of labels")
	})
})
