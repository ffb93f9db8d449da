package engine_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// stripped is a cache transform that removes managedFields.
func stripped(in any) (any, error) {
	if o, ok := in.(client.Object); ok {
		o.SetManagedFields(nil)
	}
	return in, nil
}

var _ = Describe("An object that is being deleted and kept by a finalizer", func() {
	const finalizer = "example.com/hold"
	hold := func(w *world, name string) {
		GinkgoHelper()
		w.edit(configMap(name, ""), types.MergePatchType, `{"metadata":{"finalizers":["`+finalizer+`"]}}`, "somebody")
		w.syncedObject(configMap(name, ""))
	}
	release := func(w *world, name string) {
		GinkgoHelper()
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		Expect(w.admin.Patch(w.ctx, configMapIn(w.namespace, name), patch)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(w.client.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, configMap(name, "")))
		}).Should(BeTrue())
	}
	remove := func(w *world, name string) {
		GinkgoHelper()
		Expect(w.admin.Delete(w.ctx, configMapIn(w.namespace, name))).To(Succeed())
		w.syncedObject(configMap(name, ""))
	}

	for cached, transform := range map[string]func(any) (any, error){"whole": nil, "without managedFields": stripped} {
		It("is reported in each reconciliation while it is planned, and created again: in a cache "+cached, func() {
			w := newWorld(func(w *world) { w.transform = transform })
			plan := planOf(func() []client.Object { return []client.Object{configMap("held", "1")} })
			w.converge(plan)
			hold(w, "held")
			w.converge(plan)
			remove(w, "held")
			for range 3 {
				result, sent := w.pass(plan())
				Expect(writes(sent)).To(BeEmpty())
				Expect(result.Objects).To(HaveLen(1))
				Expect(result.Objects[0].Outcome).To(Equal(apply.OutcomeBlocked))
				Expect(result.Objects[0].Reason).To(Equal(apply.ReasonTerminating))
				Expect(result.Objects[0].Finalizers).To(ConsistOf(finalizer))
				Expect(result.RequeueAfter).To(BeNumerically("<=", 5*time.Second))
			}
			release(w, "held")
			w.converge(plan)
		})
	}

	It("is reported after its prune, and no longer after a minute", func() {
		w := newWorld()
		both := planOf(func() []client.Object { return []client.Object{configMap("left", "1"), configMap("held", "1")} })
		one := planOf(func() []client.Object { return []client.Object{configMap("left", "1")} })
		w.converge(both)
		hold(w, "held")
		result, _ := w.pass(one())
		Expect(result.PruneBlocked).NotTo(HaveOccurred())
		w.syncedObject(configMap("held", ""))
		for range 2 {
			w.clock.Step(20 * time.Second)
			result, _ = w.pass(one())
		}
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonHeldByFinalizers))
		Expect(result.PruneBlocked.Objects).To(ConsistOf(ContainSubstring("held")))
		Expect(result.PruneBlocked.Error()).To(ContainSubstring(finalizer))
		var held *apply.HeldError
		Expect(errors.As(result.PruneBlocked, &held)).To(BeTrue())
		Expect(result.RequeueAfter).To(BeNumerically("<=", 5*time.Second))

		By("restarting the process")
		w.restart()
		result, _ = w.pass(one())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Error()).To(ContainSubstring(finalizer))

		By("removing the finalizer")
		release(w, "held")
		Eventually(func() bool {
			result, _ := w.pass(one())
			return result.PruneBlocked == nil
		}).Should(BeTrue())
	})

	It("is reported if the plan deletes it", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("held", "1")} }))
		hold(w, "held")
		plan := func() apply.Plan {
			plan := apply.Plan{}
			plan.Delete(configMap("held", ""))
			return plan
		}
		_, _ = w.pass(plan())
		w.syncedObject(configMap("held", ""))
		w.clock.Step(time.Minute)
		result, _ := w.pass(plan())
		Expect(result.Objects[0].Reason).To(Equal(apply.ReasonTerminating))
		Expect(result.Objects[0].Finalizers).To(ConsistOf(finalizer))
		release(w, "held")
	})
})
