package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var _ = Describe("A suspended owner", func() {
	It("keeps its children without a finalizer, and can be resumed", func() {
		w := newWorld()
		other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-other-"}}
		Expect(w.admin.Create(w.ctx, other)).To(Succeed())
		far := configMap("far", "1")
		far.Namespace = other.Name
		plan := planOf(func() []client.Object { return []client.Object{far.DeepCopy(), configMap("near", "1")} })
		w.converge(plan)
		Expect(w.stored().Finalizers).NotTo(BeEmpty())

		standstill := func() apply.Plan { return apply.Plan{Policy: apply.Suspend} }
		w.converge(standstill)
		Expect(w.stored().Finalizers).To(BeEmpty())
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.NamespacesAnnotation, other.Name), "a later plan has to find what is left")
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(far), &corev1.ConfigMap{})).To(Succeed())
		Expect(w.names()).To(ConsistOf("near"))
		w.restart()
		w.quiet(2, standstill)

		By("keeping the finalizer while the desired state is unknown")
		w.converge(func() apply.Plan { return apply.Plan{Policy: apply.Suspend, Hold: true} })
		Expect(w.stored().Finalizers).NotTo(BeEmpty())

		By("resuming with a plan with fewer children")
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("near", "1")} }))
		Expect(w.stored().Finalizers).To(BeEmpty())
		Expect(client.IgnoreNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(far), &corev1.ConfigMap{}))).To(Succeed())
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(far), &corev1.ConfigMap{})).NotTo(Succeed())
	})

	It("can withdraw its children", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object {
			return []client.Object{configMap("a", "1"), configMap("b", "1"), configMap("c", "1"), configMap("d", "1")}
		}))
		result, _ := w.pass(apply.Plan{})
		Expect(result.PruneBlocked).To(HaveOccurred(), "nothing explains an empty plan")
		Expect(w.names()).To(HaveLen(4))
		w.converge(func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} })
		Expect(w.names()).To(BeEmpty())
	})
})
