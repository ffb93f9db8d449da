package engine_test

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var _ = Describe("Objects that the engine did not create", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })

	foreign := func(w *world) *widget.Widget {
		GinkgoHelper()
		other := w.newOwner("other")
		o := configMap("cm", "theirs")
		o.Namespace = w.namespace
		Expect(controllerutil.SetControllerReference(other, o, scheme)).To(Succeed())
		Expect(w.admin.Create(w.ctx, o)).To(Succeed())
		return other
	}

	It("are not adopted, and are reported", func() {
		foreign(w)
		for range 3 {
			result, sent := w.pass(one(cm("ours"))())
			var owned *apply.OwnedByAnotherError
			Expect(errors.As(result.Err(), &owned)).To(BeTrue())
			Expect(owned.Controller.Name).To(Equal("other"))
			Expect(writes(sent)).To(Or(BeEmpty(), HaveLen(1)), "at most the inventory")
		}
	})

	It("are reported if they are not in the cache yet", func() {
		w.converge(configMaps(1))
		foreign(w)
		result, _ := w.pass(one(cm("ours"))()) // before the cache is updated
		var owned *apply.OwnedByAnotherError
		Expect(errors.As(result.Err(), &owned)).To(BeTrue())
		Expect(owned.Controller.Name).To(Equal("other"))
	})

	It("are not deleted", func() {
		foreign(w)
		w.syncedObject(configMap("cm", ""))
		var s apply.Plan
		s.Delete(configMap("cm", ""))
		result, sent := w.pass(s)
		var owned *apply.OwnedByAnotherError
		Expect(errors.As(result.Err(), &owned)).To(BeTrue())
		Expect(sent).To(BeEmpty())
	})

	It("are not adopted if they have no controller, unless the plan allows it", func() {
		o := configMap("cm", "theirs")
		o.Namespace = w.namespace
		Expect(w.admin.Create(w.ctx, o)).To(Succeed())
		w.syncedObject(o)
		result, sent := w.pass(one(cm("ours"))())
		var owned *apply.OwnedByAnotherError
		Expect(errors.As(result.Err(), &owned)).To(BeTrue())
		Expect(owned.Controller).To(BeNil())
		Expect(sent).To(Or(BeEmpty(), HaveLen(1)))
		w.converge(one(cm("ours"), apply.AdoptUncontrolled))
	})

	It("are taken from their controller if the plan forces it", func() {
		foreign(w)
		w.syncedObject(configMap("cm", ""))
		w.converge(one(cm("ours"), apply.AdoptControlled))
		stored := configMap("cm", "")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(metav1.GetControllerOf(stored).Name).To(Equal("owner"))
		Expect(stored.Data["value"]).To(Equal("ours"))
	})

	It("can be shared by several owners, and are not pruned", func() {
		shared := func() apply.Plan {
			var s apply.Plan
			s.Apply(configMap("shared", "1"), apply.Shared)
			return s
		}
		result, sent := w.pass(shared())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(sent).To(HaveLen(2), "the inventory with the finalizer, and the apply")
		w.quiet(2, shared)
		w.synced(shared)
		first := w.owner
		w.owner = w.newOwner("second")
		w.converge(shared)
		w.quiet(2, shared)
		w.pass(apply.Plan{})
		w.owner = first
		stored := configMap("shared", "")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Labels).NotTo(HaveKey(applyset.PartOfLabel))
		w.restart()
		w.quiet(2, shared)
	})
})
