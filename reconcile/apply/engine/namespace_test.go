package engine_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A namespace that is being deleted", func() {
	It("causes one attempt in 30 seconds, without an error", func() {
		w := newWorld(func(w *world) { w.options.Concurrency = 1 })
		other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-other-"}}
		Expect(w.admin.Create(w.ctx, other)).To(Succeed())
		plan := func() (plan apply.Plan) {
			for i := range 5 {
				plan.Apply(configMap(fmt.Sprint("near-", i), "1"))
			}
			plan.Apply(configMap("once", "1"), apply.Once)
			far := configMap("far", "1")
			far.Namespace = other.Name
			plan.Apply(far)
			return plan
		}
		Expect(w.admin.Delete(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
		blocked := func(result apply.Result) {
			GinkgoHelper()
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(result.RequeueAfter).To(And(BeNumerically(">", 0), BeNumerically("<=", 30*time.Second)))
			for i := range 6 {
				Expect(result.Objects[i].Outcome).To(Equal(apply.OutcomeBlocked))
				Expect(result.Objects[i].Reason).To(Equal(apply.ReasonNamespaceTerminating))
			}
		}
		result, sent := w.pass(plan())
		blocked(result)
		Expect(result.Objects[6].Outcome).To(Equal(apply.OutcomeCreated))
		Expect(writes(sent)).To(HaveLen(3), "the inventory, one refused create and the child elsewhere: %v", sent)
		w.syncedObject(plan().Children[6].Object)

		By("receiving events of other objects without an earlier attempt")
		w.clock.Step(10 * time.Second)
		result, sent = w.pass(plan())
		blocked(result)
		Expect(writes(sent)).To(BeEmpty())

		By("after 30 seconds")
		w.clock.Step(21 * time.Second)
		result, sent = w.pass(plan())
		blocked(result)
		Expect(writes(sent)).To(HaveLen(1))
	})

	It("does not delay children after it is created again", func() {
		w := newWorld(func(w *world) { w.options.Concurrency = 1 })
		name := "again-" + w.namespace
		plan := func() (plan apply.Plan) {
			plan.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
			far := configMap("far", "1")
			far.Namespace = name
			plan.Apply(far)
			return plan
		}
		w.converge(plan)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		far := configMap("far", "")
		far.Namespace = name
		Expect(w.admin.Delete(w.ctx, namespace)).To(Succeed())
		Expect(w.admin.Delete(w.ctx, far)).To(Succeed())
		Eventually(func() apply.Reason {
			result, _ := w.pass(plan())
			return result.Objects[1].Reason
		}).Should(Equal(apply.ReasonNamespaceTerminating))

		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(namespace), namespace)).To(Succeed())
		namespace.Spec.Finalizers = nil // like the namespace controller
		Expect(w.admin.SubResource("finalize").Update(w.ctx, namespace)).To(Succeed())
		Eventually(func() apply.Outcome {
			result, _ := w.pass(plan())
			return result.Objects[1].Outcome
		}).Should(Equal(apply.OutcomeCreated), "the clock stands still")
	})
})
