package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A child with only metadata in the plan", func() {
	partial := func(gvk schema.GroupVersionKind, name string) client.Object {
		o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"seen": gvk.Kind}}}
		o.SetGroupVersionKind(gvk)
		return o
	}
	kinds := []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("Secret"), appsv1.SchemeGroupVersion.WithKind("Deployment"),
	}
	It("keeps its kind next to metadata-only children of other kinds", func() {
		w := newWorld()
		for _, o := range []client.Object{configMap("x", "1"), &corev1.Secret{ObjectMeta: meta("x")}, deployment("x")} {
			o.SetNamespace(w.namespace)
			Expect(w.admin.Create(w.ctx, o)).To(Succeed())
			w.syncedObject(o)
		}
		plan := func() apply.Plan {
			var p apply.Plan
			for _, gvk := range kinds {
				p.Contribute(partial(gvk, "x"))
			}
			return p
		}
		w.converge(plan)
		stored := func(gvk schema.GroupVersionKind) string {
			GinkgoHelper()
			o := &metav1.PartialObjectMetadata{}
			o.SetGroupVersionKind(gvk)
			Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "x"}, o)).To(Succeed())
			return o.Labels["seen"]
		}
		for _, gvk := range kinds {
			Expect(stored(gvk)).To(Equal(gvk.Kind))
		}
		w.restart()
		w.quiet(2, plan)

		By("changing one of them with another manager, then removing all from the plan")
		w.edit(&corev1.Secret{ObjectMeta: meta("x")}, types.MergePatchType, `{"metadata":{"labels":{"seen":null}}}`, "someone")
		w.converge(plan)
		Expect(stored(kinds[1])).To(Equal("Secret"))
		w.converge(func() apply.Plan { return apply.Plan{} })
		for _, gvk := range kinds {
			Expect(stored(gvk)).To(BeEmpty())
		}
	})

	It("is created and pruned like other children", func() {
		w := newWorld()
		plan := planOf(func() []client.Object { return []client.Object{partial(kinds[0], "x"), partial(kinds[1], "x")} })
		w.converge(plan)
		Expect(w.exists(&corev1.Secret{ObjectMeta: meta("x")})).To(BeTrue())
		w.restart()
		w.quiet(2, plan)
		w.converge(planOf(func() []client.Object { return []client.Object{partial(kinds[1], "x")} }))
		Expect(w.exists(configMap("x", ""))).To(BeFalse())
		Expect(w.exists(&corev1.Secret{ObjectMeta: meta("x")})).To(BeTrue())
	})
})
