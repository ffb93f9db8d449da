package engine_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

var _ = Describe("The propagation of a deletion", func() {
	finalizers := func(w *world, name string) []string {
		GinkgoHelper()
		o := &corev1.ConfigMap{}
		Expect(client.IgnoreNotFound(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, o))).To(Succeed())
		return o.Finalizers
	}

	It("is background by default, for prunes and planned deletions", func() {
		w := newWorld(func(w *world) { w.options.Propagation = metav1.DeletePropagationForeground })
		w.converge(configMaps(4))
		p := configMaps(2)()
		p.Delete(configMap("cm-2", ""), apply.PropagationPolicy(metav1.DeletePropagationBackground))
		result, _ := w.pass(p)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(finalizers(w, "cm-3")).To(ConsistOf(metav1.FinalizerDeleteDependents), "pruned as the options say")
		Expect(w.exists(configMap("cm-2", ""))).To(BeFalse(), "deleted as the plan says")
	})

	It("is rejected if it is not valid", func() {
		_, err := engine.New(fakeClient{}, fakeClient{}, apply.Options{FieldManager: "m", Propagation: "Later"})
		Expect(err).To(MatchError(ContainSubstring(`propagation "Later" must be Background, Foreground or Orphan`)))
	})
})

// fakeClient is never called.
type fakeClient struct{ client.Client }

var _ = Describe("The deletion of an owner with children of a kind that is no longer served", func() {
	It("waits for a second discovery, reports it, and completes", func() {
		w := newWorld()
		crd := atomicCRD()
		crd.Spec.Scope = apiextensionsv1.ClusterScoped
		crd.Spec.Group = "gone.example.com"
		crd.Name = crd.Spec.Names.Plural + "." + crd.Spec.Group
		Expect(w.admin.Create(w.ctx, crd)).To(Succeed())
		far := func() client.Object {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.Kind})
			o.SetName("far-" + w.namespace)
			return o
		}
		Eventually(func() error {
			return client.IgnoreNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(far()), far()))
		}).Should(Succeed())
		w.converge(planOf(func() []client.Object { return []client.Object{far()} }))
		Expect(w.stored().Finalizers).To(HaveLen(1))
		Expect(w.admin.Delete(w.ctx, crd)).To(Succeed())
		Eventually(func() error { return w.admin.Get(w.ctx, client.ObjectKeyFromObject(far()), far()) }).ShouldNot(Succeed())
		w.restart()
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		Eventually(func(g Gomega) {
			result, _ := w.pass(apply.Plan{})
			g.Expect(result.Finalized).To(BeFalse())
			g.Expect(result.RequeueAfter).NotTo(BeZero())
			g.Expect(result.PruneBlocked).To(HaveOccurred())
			g.Expect(result.PruneBlocked.Error()).To(ContainSubstring("is not served"))
		}).Should(Succeed())
		w.clock.Step(11 * time.Second)
		result, _ := w.pass(apply.Plan{})
		Expect(result.Finalized).To(BeTrue())
	})
})
