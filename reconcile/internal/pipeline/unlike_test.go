package pipeline_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/internal/widget"
)

var _ = Describe("An owner whose planned child is being deleted", func() {
	It("is not ready, and the message names the child and its finalizers, even if a decorator reports ready", func() {
		w := newWorld(widget.Spec{Count: 1}, &decorated{decorate: func(_ *widget.Status, cm *conditions.Manager) {
			cm.MarkTrue(conditions.Ready, "Mine", "all is well")
		}})
		w.settle()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))

		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.widget.Namespace, Name: "demo-0"}}
		patch := func(finalizers string) {
			GinkgoHelper()
			data := []byte(`{"metadata":{"finalizers":` + finalizers + `}}`)
			Expect(env.Client().Patch(context.Background(), child, client.RawPatch(types.MergePatchType, data))).To(Succeed())
		}
		patch(`["example.com/hold"]`)
		Expect(env.Client().Delete(context.Background(), child)).To(Succeed())
		result, err := w.pass()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeNumerically("<=", 10*time.Second))
		ready := w.condition("Ready")
		Expect(ready.Status).To(Equal(metav1.ConditionFalse))
		Expect(ready.Message).To(And(ContainSubstring("ConfigMap "+w.widget.Namespace+"/demo-0 is being deleted"), ContainSubstring("example.com/hold")))

		patch(`null`)
		w.settle()
		Expect(w.condition("Ready").Status).To(Equal(metav1.ConditionTrue))
		Expect(w.parts()).To(ConsistOf("demo-0"))
	})
})
