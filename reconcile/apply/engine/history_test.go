package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var _ = Describe("A history", func() {
	history := func(names ...string) func() apply.Plan {
		return func() (s apply.Plan) {
			s.Policy = apply.Withdraw // disables the mass-prune guard
			for _, name := range names {
				s.Apply(configMap(name, "1"), apply.History())
			}
			return s
		}
	}
	// kept returns the names of the objects that the owner controls.
	kept := func(w *world) (names []string) {
		GinkgoHelper()
		var list corev1.ConfigMapList
		Expect(w.admin.List(w.ctx, &list, client.InNamespace(w.namespace))).To(Succeed())
		for i := range list.Items {
			if metav1.IsControlledBy(&list.Items[i], w.owner) {
				names = append(names, list.Items[i].Name)
			}
		}
		return names
	}
	kinds := func(w *world) {
		w.options.Kinds = []apply.ChildKind{{GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap")}}
	}

	for what, options := range map[string]func(*world){"": func(*world) {}, ", of a declared kind": kinds} {
		It("is kept when the plan does not name it, and writes nothing to its owner"+what, func() {
			w := newWorld(options)
			w.touchSpec()
			before := w.stored()
			w.converge(history("one", "two"))
			w.edit(configMap("one", ""), types.MergePatchType, `{"data":{"value":"theirs"}}`, "somebody")
			w.quiet(2, history("one", "two"))
			w.converge(history("three"))
			w.converge(history())
			w.touchSpec()
			for range 2 {
				w.converge(history())
				w.quiet(2, history())
				Expect(kept(w)).To(ConsistOf("one", "two", "three"))
				w.restart()
			}
			w.converge(history("one"))
			after := w.stored()
			Expect([]any{after.Labels, after.Annotations, after.Finalizers}).To(Equal([]any{before.Labels, before.Annotations, before.Finalizers}))

			By("deleting one child")
			w.converge(func() (s apply.Plan) { s.Delete(configMap("two", "")); return s })
			Expect(kept(w)).To(ConsistOf("one", "three"))
		})
	}

	It("is deleted by garbage collection with its owner, next to children that the engine deletes", func() {
		w := newWorld()
		plan := func() (s apply.Plan) {
			s.Apply(configMap("one", "1"), apply.History())
			s.Apply(configMap("a", "1"))
			s.Apply(configMap("b", "1"), apply.After(configMap("a", "")), apply.After(configMap("one", "")))
			return s
		}
		w.converge(plan)
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		Eventually(func(g Gomega) {
			current := &widget.Widget{}
			g.Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), current)).To(Succeed())
			g.Expect(w.engine.Apply(w.ctx, current, apply.Plan{}).Finalized).To(BeTrue())
		}).Should(Succeed())
		Expect(kept(w)).To(ContainElement("one"))
	})

	DescribeTable("includes children that another mode created, if a plan names them", func(opts ...apply.ChildOption) {
		w := newWorld(kinds)
		w.converge(func() (s apply.Plan) {
			s.Apply(configMap("one", "1"), opts...)
			s.Apply(configMap("rest", "1"))
			return s
		})
		w.restart()
		w.syncedObject(configMap("one", ""))
		then := func(named bool) func() apply.Plan {
			return func() (s apply.Plan) {
				s.Policy = apply.Withdraw
				if named {
					s.Apply(configMap("one", "2"), apply.History())
				}
				return s
			}
		}
		// The next plan must not name it before the cache shows that it lost the label.
		result, _ := w.pass(then(true)())
		Expect(result.Err()).NotTo(HaveOccurred())
		_, _ = w.pass(then(false)())
		w.converge(then(true))
		w.quiet(2, then(true))
		w.converge(then(false))
		w.restart()
		w.converge(then(false))
		Expect(kept(w)).To(ConsistOf("one"))
		one := configMap("one", "")
		one.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(one), one)).To(Succeed())
		Expect(one.Labels).NotTo(HaveKey(applyset.PartOfLabel))
		Expect(one.Data).To(Equal(map[string]string{"value": "1"}))
		Expect(w.stored().Annotations).To(BeEmpty())
	},
		Entry("an owned child"),
		Entry("a child that is created once", apply.Once),
	)
})
