package engine_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A child that somebody deletes as often as it is made", func() {
	It("is reported and left alone for longer and longer, and is made again", func() {
		w := newWorld()
		plan := planOf(func() []client.Object { return []client.Object{configMap("cm", "1")} })
		key := client.ObjectKey{Namespace: w.namespace, Name: "cm"}
		gone := func(c client.Client) func() bool {
			return func() bool { return apierrors.IsNotFound(c.Get(w.ctx, key, &corev1.ConfigMap{})) }
		}
		var deleted *apply.DeletedByOthersError
		made := 0
		for range 10 {
			result, _ := w.pass(plan())
			if errors.As(result.Err(), &deleted) {
				break
			}
			Expect(result.Err()).NotTo(HaveOccurred())
			made++
			w.synced(plan)
			w.pass(plan()) // the cache shows it
			Expect(w.admin.Delete(w.ctx, configMapIn(w.namespace, "cm"))).To(Succeed())
			Eventually(gone(w.client)).Should(BeTrue())
		}
		Expect(deleted).To(HaveOccurred())
		Expect(deleted.Name).To(Equal("cm"))
		Expect(made).To(BeNumerically("<=", 6))
		result, sent := w.pass(plan())
		Expect(errors.As(result.Err(), &deleted)).To(BeTrue())
		Expect(writes(sent)).To(BeEmpty())
		Expect(result.RequeueAfter).To(BeNumerically(">", 0))

		w.clock.Step(result.RequeueAfter + time.Second)
		result, _ = w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(gone(w.admin)()).To(BeFalse())
	})
})

func configMapIn(namespace, name string) *corev1.ConfigMap {
	cm := configMap(name, "")
	cm.Namespace = namespace
	return cm
}
