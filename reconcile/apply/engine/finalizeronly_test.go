package engine_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("An owner that lost all metadata except the finalizer", func() {
	target := func() *corev1.ConfigMap { return configMap("target", "1") }
	role := func(w *world) client.Object { return &rbacv1.ClusterRole{ObjectMeta: meta("role-" + w.namespace)} }
	for _, deleted := range []bool{false, true} {
		It(fmt.Sprintf("releases its contributions and prunes its children, deleted: %t", deleted), func() {
			w := newWorld(func(w *world) {
				w.options.Kinds = []apply.ChildKind{
					{GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Use: apply.KindWritten},
					{GVK: rbacv1.SchemeGroupVersion.WithKind("ClusterRole")},
					{GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Use: apply.KindRetired},
				}
			})
			o := target()
			o.Namespace = w.namespace
			Expect(w.admin.Create(w.ctx, o)).To(Succeed())
			w.syncedObject(o)
			plan := func() apply.Plan {
				var p apply.Plan
				p.Contribute(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target"}, Data: map[string]string{"mine": "1"}})
				p.Apply(role(w))
				p.Apply(&corev1.Secret{ObjectMeta: meta("old")})
				return p
			}
			w.converge(plan)
			w.replaceOwner()
			Expect(w.stored().Finalizers).NotTo(BeEmpty())
			w.restart()
			if deleted {
				Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
				Eventually(func(g Gomega) {
					result := w.engine.Apply(w.ctx, w.stored(), apply.Plan{})
					g.Expect(result.Finalized).To(BeTrue(), "%v", result.Err())
				}).Should(Succeed())
			} else {
				w.touchSpec()
				w.converge(func() apply.Plan { return apply.Plan{} })
				Expect(w.stored().Finalizers).To(BeEmpty())
				Expect(w.exists(&corev1.Secret{ObjectMeta: meta("old")})).To(BeFalse(), "a retired kind")
			}
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
			Expect(o.Data).To(Equal(map[string]string{"value": "1"}))
			Expect(w.exists(role(w))).To(BeFalse())
		})
	}
})
