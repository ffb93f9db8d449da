package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// podAntiAffinity is a Deployment as unstructured content, in which an empty
// object is sent.
func podAntiAffinity(terms map[string]any) func() client.Object {
	return func() client.Object {
		d := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "x"}},
				"spec": map[string]any{
					"affinity":   map[string]any{"podAntiAffinity": terms},
					"containers": []any{map[string]any{"name": "main", "image": "i:1"}},
				},
			},
		}}}
		d.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
		d.SetName("equal")
		return d
	}
}

var _ = DescribeTable("An apply that empties a field is repeated until the API server stores the result",
	func(before, after func() client.Object) {
		w := newWorld()
		w.converge(planOf(listOf(before)))
		second := planOf(listOf(after))
		w.converge(second)
		expectTaken(w, after())
		w.quiet(2, second)
	},
	Entry("an object field of a built-in kind",
		podAntiAffinity(map[string]any{"preferredDuringSchedulingIgnoredDuringExecution": []any{map[string]any{
			"weight":          int64(1),
			"podAffinityTerm": map[string]any{"topologyKey": "t", "labelSelector": map[string]any{"matchLabels": map[string]any{"app": "x"}}},
		}}}), podAntiAffinity(map[string]any{})),
	Entry("a set", rule(map[string]any{"set": []any{"a"}}), rule(map[string]any{"set": []any{}})),
)

// expectTaken asks the API server whether one more forced apply of the object
// under our name would change it.
func expectTaken(w *world, o client.Object) {
	GinkgoHelper()
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: o.GetName()}, stored)).To(Succeed())
	intent, ok := o.(*unstructured.Unstructured)
	Expect(ok).To(BeTrue(), "want unstructured content")
	intent.SetNamespace(w.namespace)
	if part, ok := stored.GetLabels()[applyset.PartOfLabel]; ok {
		intent.SetLabels(map[string]string{applyset.PartOfLabel: part})
	}
	intent.SetOwnerReferences(stored.GetOwnerReferences())
	Expect(w.admin.Apply(w.ctx, client.ApplyConfigurationFromUnstructured(intent), client.FieldOwner(manager), client.ForceOwnership, client.DryRunAll)).To(Succeed())
	Expect(intent.Object["spec"]).To(Equal(stored.Object["spec"]), "an apply would change the stored object")
}

var _ = Describe("An atomic field", func() {
	stored := func(w *world) map[string]any {
		GinkgoHelper()
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(ruleKind)
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "equal"}, u)).To(Succeed())
		whole, _, err := unstructured.NestedMap(u.Object, "spec", "whole")
		Expect(err).NotTo(HaveOccurred())
		return whole
	}

	It("that is planned empty is emptied after another manager sets it", func() {
		w := newWorld()
		plan := planOf(listOf(rule(map[string]any{"whole": map[string]any{}})))
		w.converge(plan)
		w.edit(rule(nil)(), types.MergePatchType, `{"spec":{"whole":{"a":"theirs"}}}`, "other")
		w.converge(plan)
		Expect(stored(w)).To(BeEmpty())
		w.quiet(2, plan)
	})

	It("that is planned empty is emptied after another manager sets it and managedFields are lost", func() {
		w := newWorld()
		plan := planOf(listOf(rule(map[string]any{"whole": map[string]any{}})))
		w.converge(plan)
		w.edit(rule(nil)(), types.MergePatchType, `{"spec":{"whole":{"a":"theirs"}}}`, "other")
		w.edit(rule(nil)(), types.MergePatchType, wipedManagedFields, "other")
		w.converge(plan)
		Expect(stored(w)).To(BeEmpty())
		w.quiet(2, plan)
	})

	It("gets a seed again that was removed with the value of another manager", func() {
		w := newWorld()
		plan := func() apply.Plan {
			var s apply.Plan
			s.Apply(rule(map[string]any{"whole": map[string]any{"seed": "1", "own": "2"}})(), apply.Seed("spec.whole.seed"))
			return s
		}
		w.converge(plan)
		w.edit(rule(nil)(), types.MergePatchType, `{"spec":{"whole":{"own":"theirs"}}}`, "other")
		w.converge(plan)
		Expect(stored(w)).To(Equal(map[string]any{"seed": "1", "own": "2"}))
		w.quiet(2, plan)
	})
})

var _ = Describe("A managedFields entry that disappears because other managers took all of its fields", func() {
	It("does not count as lost", func() {
		w := newWorld()
		target := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: w.namespace}}
		Expect(w.admin.Create(w.ctx, target)).To(Succeed())
		plan := func() apply.Plan {
			var s apply.Plan
			s.Contribute(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target"}, Data: map[string]string{"a": "1"}})
			return s
		}
		w.syncedObject(target)
		w.converge(plan)
		w.edit(configMap("target", ""), types.MergePatchType, `{"data":{"a":"theirs"}}`, "other")
		result, sent := w.pass(plan())
		Expect(result.Objects).To(ConsistOf(HaveField("Outcome", BeEquivalentTo(apply.OutcomeContested))))
		Expect(sent).To(HaveLen(1))
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(target), target)).To(Succeed())
		Expect(target.ManagedFields).To(ConsistOf(HaveField("Manager", "other")))
	})
})
