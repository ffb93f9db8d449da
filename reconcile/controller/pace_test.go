package controller_test

import (
	"context"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A minimum interval between reconciliations", func() {
	It("delays events of other objects, but no edit of the owner", func(ctx SpecContext) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		Expect(c.Create(ctx, configMap(namespace, "source", nil))).To(Succeed())
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			return world{err: r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: "source"}, &corev1.ConfigMap{})}
		}}
		options := settings()
		options.EventInterval = time.Hour
		owner := newWidget(namespace, "w")
		Expect(c.Create(ctx, owner)).To(Succeed())
		declared := controller.New("paced", p).Reads(&corev1.ConfigMap{}).Options(options).Build()
		runs{}.start(namespace, declared.SetupWithManager)
		Expect(p.settled(ctx, "w")).To(Equal(1))

		for i := range 5 {
			Expect(change(ctx, c, configMap(namespace, "source", nil), func(o *corev1.ConfigMap) {
				o.Data = map[string]string{"count": strconv.Itoa(i)}
			})).To(Succeed())
		}
		Eventually(func() (string, error) {
			explained, err := declared.Explain(ctx, client.ObjectKeyFromObject(owner))
			return explained.String(), err
		}).Should(ContainSubstring("EventInterval"))
		Expect(p.settled(ctx, "w")).To(Equal(1))

		Expect(change(ctx, c, owner, func(w *widget.Widget) { w.Spec.Count++ })).To(Succeed())
		Eventually(p.count).WithArguments("w").Should(Equal(2))
		Expect(p.settled(ctx, "w")).To(Equal(2))
	})
})
