package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A kept kind", func() {
	configMaps := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	history := func(created ...string) func() apply.Plan {
		return func() apply.Plan {
			s := apply.Plan{Policy: apply.Withdraw} // disables the mass-prune guard
			s.KeepKind(configMaps)
			for _, name := range created {
				s.Apply(configMap(name, "1"), apply.Once)
			}
			return s
		}
	}

	It("keeps the children that the plan does not name, also after a restart, until they are deleted or pruned", func() {
		w := newWorld()
		w.converge(history("one", "two", "three", "four"))
		w.converge(history("five"))
		Expect(w.names()).To(ConsistOf("one", "two", "three", "four", "five"))
		w.quiet(3, history())
		w.restart()
		w.converge(history())
		w.quiet(3, history())
		Expect(w.names()).To(HaveLen(5))

		By("deleting the oldest by name and UID")
		old := configMap("one", "")
		old.SetNamespace(w.namespace)
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(old), old)).To(Succeed())
		w.converge(func() apply.Plan {
			s := history()()
			s.Delete(old)
			return s
		})
		Expect(w.names()).To(ConsistOf("two", "three", "four", "five"))

		By("removing the kind from the kept kinds")
		w.converge(func() (s apply.Plan) {
			s.Policy = apply.Withdraw
			s.Apply(configMap("five", "1"), apply.Once)
			return s
		})
		Eventually(w.names).Should(ConsistOf("five"))
	})

	It("writes nothing to an owner that never had a child", func() {
		w := newWorld()
		w.touchSpec() // the generation is not recorded, because nothing can be pruned
		before := w.stored()
		for _, plan := range []func() apply.Plan{func() apply.Plan { return apply.Plan{} }, history()} {
			for range 3 {
				result, sent := w.pass(plan())
				Expect(result.Err()).NotTo(HaveOccurred())
				Expect(sent).NotTo(ContainElement(HavePrefix("PATCH ")))
			}
			w.restart()
		}
		Expect(w.stored().ObjectMeta).To(Equal(before.ObjectMeta))
	})

	It("leaves no annotation on an owner whose last child was pruned", func() {
		w := newWorld()
		w.touchSpec()
		before := w.stored()
		w.converge(func() (s apply.Plan) {
			s.Apply(configMap("one", "1"))
			return s
		})
		Expect(w.stored().Annotations).NotTo(Equal(before.Annotations))
		withdrawn := func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} }
		w.converge(withdrawn)
		w.quiet(2, withdrawn)
		after := w.stored()
		Expect([]any{after.Labels, after.Annotations, after.Finalizers}).To(Equal([]any{before.Labels, before.Annotations, before.Finalizers}))
	})

	It("is recorded again if the metadata of the owner is lost", func() {
		w := newWorld()
		w.converge(history("one"))
		recorded := w.stored().Annotations
		Expect(recorded).To(HaveKeyWithValue("applyset.kubernetes.io/contains-group-kinds", "ConfigMap"))
		w.edit(w.owner, types.MergePatchType, `{"metadata":{"labels":null,"annotations":null}}`, "restore")
		w.restart()
		w.converge(history())
		Expect(w.stored().Annotations).To(HaveKeyWithValue("applyset.kubernetes.io/contains-group-kinds", "ConfigMap"))
		Expect(w.names()).To(ConsistOf("one"))
	})

	It("keeps contributions to its objects, also after a restart, until the kind is no longer kept", func() {
		w := newWorld()
		target := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: w.namespace}}
		Expect(w.admin.Create(w.ctx, target)).To(Succeed())
		w.converge(func() (s apply.Plan) {
			s.Contribute(configMap("target", "1"))
			return s
		})
		contributed := func() string {
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(target), target)).To(Succeed())
			return target.Data["value"]
		}
		w.converge(history())
		w.quiet(2, history())
		w.restart()
		w.converge(history())
		w.quiet(2, history())
		Expect(contributed()).To(Equal("1"))

		w.converge(func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} })
		Expect(contributed()).To(BeEmpty())
	})
})
