package controller_test

import (
	"context"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A controller that writes only some conditions", func() {
	errNoWorld := health.NewError(health.InvalidSpec, "NoWorld", "there is no such world", errors.New("no world"))

	types := func(ctx context.Context, c client.Client, w *widget.Widget) (list []string) {
		Expect(c.Get(ctx, client.ObjectKeyFromObject(w), w)).To(Succeed())
		for _, condition := range w.Status.Conditions {
			list = append(list, condition.Type+"="+string(condition.Status))
		}
		return list
	}
	// announced returns the events recorded so far.
	announced := func(recorder *k8sevents.FakeRecorder) (list []string) {
		for len(recorder.Events) > 0 {
			list = append(list, <-recorder.Events)
		}
		return list
	}

	It("stores and announces no summary, and still explains the owner", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := &probe{fetch: func(_ context.Context, _ reconcile.Reader, o *widget.Widget) (w world) {
			if o.Spec.Message == "nowhere" {
				w.err = errNoWorld
			}
			return w
		}}
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())

		By("writing all conditions in an earlier version")
		earlier := controller.New("some-conditions", p).Options(settings()).Build()
		stop := startWith(env.Config(), namespace, earlier.SetupWithManager)
		Eventually(types).WithArguments(ctx, c, w).WithTimeout(soon).Should(ConsistOf("Ready=True"))
		stop()
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{
			Type: "Theirs", Status: metav1.ConditionTrue, Reason: "Set", LastTransitionTime: metav1.Now(),
		})
		Expect(c.Status().Update(ctx, w, client.FieldOwner("others"))).To(Succeed())

		By("writing only the conditions of components")
		options, recorder := settings(), k8sevents.NewFakeRecorder(100)
		options.Recorder = recorder
		options.Conditions = func(of string) bool {
			return of != "Theirs" && strings.HasSuffix(of, "Ready") && of != conditions.Ready
		}
		b := controller.New("some-conditions", p).Options(options).Build()
		runs{}.start(namespace, b.SetupWithManager)
		Eventually(types).WithArguments(ctx, c, w).WithTimeout(soon).Should(ConsistOf("Theirs=True"))
		explained := func() string {
			owner, err := b.Explain(ctx, client.ObjectKeyFromObject(w))
			Expect(err).NotTo(HaveOccurred())
			return owner.State()
		}
		Eventually(explained).WithTimeout(soon).Should(Equal("Ready"))

		Expect(change(ctx, c, w, func(o *widget.Widget) { o.Spec.Message = "nowhere" })).To(Succeed())
		Eventually(types).WithArguments(ctx, c, w).WithTimeout(soon).Should(ConsistOf("WorldReady=False", "Theirs=True"))
		Eventually(explained).WithTimeout(soon).Should(Equal("NotReady"))
		Expect(change(ctx, c, w, func(o *widget.Widget) { o.Spec.Message = "here" })).To(Succeed())
		Eventually(types).WithArguments(ctx, c, w).WithTimeout(soon).Should(Not(ContainElement("WorldReady=False")))
		Eventually(explained).WithTimeout(soon).Should(Equal("Ready"))

		all := announced(recorder)
		Expect(all).To(ContainElement(ContainSubstring("NoWorld")))
		Expect(all).NotTo(ContainElement(ContainSubstring("All components are ready")))
		Expect(all).NotTo(ContainElement(ContainSubstring("AllComponentsReady")))
	})
})
