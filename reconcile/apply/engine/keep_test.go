package engine_test

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var _ = Describe("A kept child", func() {
	keep := func() apply.Plan {
		var s apply.Plan
		s.Apply(configMap("other", "1"))
		s.Keep(configMap("kept", "2"))
		return s
	}

	It("is unchanged while its feature is switched off, and is not created again", func() {
		w := newWorld()
		w.converge(func() apply.Plan {
			var s apply.Plan
			s.Apply(configMap("other", "1"))
			s.Apply(configMap("kept", "1"))
			return s
		})
		w.converge(keep)
		w.quiet(3, keep)
		w.restart()
		w.converge(keep)
		Expect(w.names()).To(ConsistOf("kept", "other"))
		stored := configMap("kept", "")
		stored.SetNamespace(w.namespace)
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Data).To(HaveKeyWithValue("value", "1"))

		By("deleting it")
		Expect(w.admin.Delete(w.ctx, stored)).To(Succeed())
		Eventually(func(g Gomega) { // the cache is updated when a reconciliation has nothing to prune
			result, _ := w.pass(keep())
			g.Expect(result.Err()).NotTo(HaveOccurred())
			err := w.client.Get(w.ctx, client.ObjectKeyFromObject(stored), configMap("kept", ""))
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
		}).Should(Succeed())
		result, sent := w.pass(keep())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(sent).To(BeEmpty())
		Expect(w.names()).To(ConsistOf("other"))
	})

	It("is ignored if another controller created it", func() {
		w := newWorld()
		foreign := configMap("kept", "theirs")
		foreign.SetNamespace(w.namespace)
		Expect(w.admin.Create(w.ctx, foreign)).To(Succeed())
		w.syncedObject(foreign)
		w.converge(keep)
		w.quiet(3, keep)
	})
})

var _ = Describe("Adoption of objects without a controller", func() {
	It("does not adopt children of another owner that have no owner reference", func() {
		w := newWorld()
		foreign := configMap("cm", "theirs")
		foreign.SetNamespace(w.namespace)
		foreign.SetLabels(map[string]string{applyset.PartOfLabel: "applyset-of-another-v1"})
		Expect(w.admin.Create(w.ctx, foreign)).To(Succeed())
		w.syncedObject(foreign)
		result, _ := w.pass(one(cm("ours"), apply.AdoptUncontrolled)())
		var owned *apply.OwnedByAnotherError
		Expect(errors.As(result.Err(), &owned)).To(BeTrue())
	})
})
