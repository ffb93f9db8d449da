package pipeline_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("An owner whose plan waits", func() {
	It("is not ready until the entire plan is applied, and reports what it waits for", func() {
		open := false
		w := newWorld(widget.Spec{Count: 1}, &widgets{plan: func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			plan.Apply(part(rc.Object, "late"), apply.WaitUntil(open, "the first part is ready"))
		}})
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-0"))
		ready := w.condition("Ready")
		Expect(ready.Status).To(Equal(metav1.ConditionFalse))
		Expect(ready.Reason).To(Equal("Progressing"))
		Expect(ready.Message).To(ContainSubstring("demo-late waits until the first part is ready"))

		open = true
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-0", "demo-late"))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))

		open = false
		w.settle()
		Expect(w.parts()).To(ConsistOf("demo-0", "demo-late"))
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
	})
})

var _ = Describe("An owner with a changed child", func() {
	It("is not ready until the status of the child has observed the change", func() {
		image := "web:1"
		w := newWorld(widget.Spec{}, &widgets{plan: func(rc reconcile.ReconcileContext[*widget.Widget], plan *reconcile.PlanResult) {
			labels := map[string]string{"app": rc.Object.Name}
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name}}
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
			d.Spec.Template.Labels = labels
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: image}}
			plan.Apply(d)
		}})
		w.settle()
		observe := func() {
			d := &appsv1.Deployment{}
			Expect(w.Get(context.Background(), client.ObjectKeyFromObject(w.widget), d)).To(Succeed())
			d.Status.ObservedGeneration = d.Generation
			Expect(w.Status().Update(context.Background(), d)).To(Succeed())
		}
		observe()
		w.settle()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))

		image = "web:2"
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeNumerically("~", 10*time.Second, time.Second), "for a child whose status is not watched")
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionFalse))
		Expect(w.condition("Ready").Message).To(ContainSubstring("Deployment " + w.widget.Namespace + "/" + w.widget.Name + " was changed"))

		observe()
		w.settle()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
	})
})
