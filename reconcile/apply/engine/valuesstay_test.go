package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A contribution that cannot be removed", func() {
	It("is abandoned with its value in place, and does not block the deletion of the owner", func() {
		w := newWorld()
		target := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: w.namespace}, Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeExternalName, ExternalName: "a.example.com",
		}}
		Expect(w.admin.Create(w.ctx, target, client.FieldOwner("other"))).To(Succeed())
		w.syncedObject(target)
		w.converge(func() (plan apply.Plan) {
			plan.Contribute(&corev1.Service{ObjectMeta: meta("target"), Spec: corev1.ServiceSpec{ExternalName: "b.example.com"}}, apply.Force("spec.externalName"))
			return plan
		})
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		result, _ := w.pass(apply.Plan{})
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeTrue())
		Expect(result.Objects).To(ContainElement(And(HaveField("Outcome", apply.OutcomeReleased), HaveField("Reason", apply.ReasonValuesStay))))
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(target), target)).To(Succeed())
		Expect(target.Spec.ExternalName).To(Equal("b.example.com"))
		for _, e := range target.ManagedFields {
			Expect(e.Manager).NotTo(HavePrefix(manager))
		}
	})
})
