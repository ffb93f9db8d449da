package engine_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// applyAs applies JSON with server-side apply as another manager.
func (w *world) applyAs(o client.Object, manager, patch string) {
	GinkgoHelper()
	o.SetNamespace(w.namespace)
	Expect(w.admin.Patch(w.ctx, o, client.RawPatch(types.ApplyPatchType, []byte(patch)),
		client.FieldOwner(manager), client.ForceOwnership)).To(Succeed())
	w.syncedObject(o)
}

func one(object func() client.Object, opts ...apply.ChildOption) func() apply.Plan {
	return func() apply.Plan {
		var s apply.Plan
		s.Apply(object(), opts...)
		return s
	}
}

func cm(value string) func() client.Object {
	return func() client.Object { return configMap("cm", value) }
}

var _ = Describe("The ownership of a field", func() {
	It("is reported if another manager applies the field, and the request is not repeated", func() {
		w := newWorld()
		plan := one(cm("ours"))
		w.converge(plan)
		w.applyAs(configMap("cm", ""), "rival", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm"},"data":{"value":"theirs"}}`)
		result, sent := w.pass(plan())
		var contested *apply.ContestedError
		Expect(errors.As(result.Err(), &contested)).To(BeTrue())
		Expect(contested.Fields).To(ConsistOf(apply.ContestedField{Path: ".data.value", Manager: "rival"}))
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeContested))
		Expect(sent).To(HaveLen(1))
		for range 10 {
			result, sent = w.pass(plan())
			Expect(sent).To(BeEmpty())
			Expect(errors.As(result.Err(), &contested)).To(BeTrue())
			Expect(result.RequeueAfter).NotTo(BeZero())
		}
		By("stopping the other manager")
		w.applyAs(configMap("cm", ""), "rival", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm"}}`)
		w.converge(plan)
	})

	It("is forced if the plan requires it", func() {
		w := newWorld()
		plan := one(cm("ours"), apply.Force("data.value"))
		w.converge(plan)
		w.applyAs(configMap("cm", ""), "rival", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm"},"data":{"value":"theirs"}}`)
		result, _ := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		w.converge(plan)
	})

	It("of a seeded field passes to an autoscaler permanently", func() {
		w := newWorld()
		plan := one(func() client.Object { return deployment("seeded") }, apply.Seed("spec.replicas"))
		w.converge(plan)
		w.edit(deployment("seeded"), types.MergePatchType, `{"spec":{"replicas":7}}`, "autoscaler")
		w.quiet(3, plan)
		w.restart()
		w.quiet(3, plan)
		changed := one(func() client.Object {
			d := deployment("seeded")
			d.Spec.Template.Spec.Containers[0].Image = "new:2"
			return d
		}, apply.Seed("spec.replicas"))
		w.converge(changed)
		stored := deployment("seeded")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(*stored.Spec.Replicas).To(Equal(int32(7)))
	})

	It("of an ignored field is never claimed", func() {
		w := newWorld()
		plan := one(func() client.Object { return deployment("ignored") }, apply.Ignore("spec.replicas"))
		w.converge(plan)
		stored := deployment("ignored")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(*stored.Spec.Replicas).To(Equal(int32(1)))
	})

	It("is reported with both managers if another manager repeatedly changes the field", func() {
		w := newWorld()
		plan := one(cm("ours"))
		w.converge(plan)
		sum := 0
		var contested *apply.ContestedError
		for range 10 {
			w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"value":"theirs"}}`, "insistent")
			result, sent := w.pass(plan())
			sum += len(sent)
			errors.As(result.Err(), &contested)
		}
		Expect(sum).To(BeNumerically("<=", 5))
		Expect(contested).To(HaveOccurred())
		Expect(contested.Fields).To(ContainElement(apply.ContestedField{Path: ".data.value", Manager: "insistent"}))
		By("repairing it after the interval")
		w.clock.Step(10 * time.Minute)
		w.converge(plan)
	})

	It("of former managers is taken over", func() {
		w := newWorld(func(w *world) { w.options.FormerManagers = []string{"old", "before-first-apply"} })
		plan := one(cm("1"))
		w.converge(plan)
		w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"stale":"1"}}`, "old")
		w.applyAs(configMap("cm", ""), "old", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm"},"data":{"stale2":"1"}}`)
		w.restart()
		w.converge(plan)
		stored := configMap("cm", "")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Data).To(Equal(map[string]string{"value": "1"}))
		w.quiet(3, plan)
	})
})
