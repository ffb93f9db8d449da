package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A kept kind", func() {
	configMaps := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	history := func(created ...string) func() apply.Plan {
		return func() apply.Plan {
			s := apply.Plan{Policy: apply.Withdraw} // no guard against pruning too much keeps them instead
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

		By("the oldest goes by name and UID")
		old := configMap("one", "")
		old.SetNamespace(w.namespace)
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(old), old)).To(Succeed())
		w.converge(func() apply.Plan {
			s := history()()
			s.Delete(old)
			return s
		})
		Expect(w.names()).To(ConsistOf("two", "three", "four", "five"))

		By("the kind is kept no more")
		w.converge(func() (s apply.Plan) {
			s.Policy = apply.Withdraw
			s.Apply(configMap("five", "1"), apply.Once)
			return s
		})
		Eventually(w.names).Should(ConsistOf("five"))
	})

	It("keeps what was contributed to its objects, also after a restart, until it is kept no more", func() {
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
