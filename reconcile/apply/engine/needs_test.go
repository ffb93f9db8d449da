package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A planned namespace or CRD of a child", func() {
	It("does not block the child if only one of its fields is contested", func() {
		w := newWorld()
		name := w.namespace + "-far"
		plan := func(value string) func() apply.Plan {
			return planOf(func() []client.Object {
				inside := configMap("inside", value)
				inside.Namespace = name
				return []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "ours"}}}, inside}
			})
		}
		w.converge(plan("1"))
		rival := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		Expect(w.admin.Patch(w.ctx, rival, client.RawPatch(types.ApplyPatchType, []byte(
			`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`","labels":{"team":"theirs"}}}`)),
			client.FieldOwner("rival"), client.ForceOwnership)).To(Succeed())
		w.syncedObject(rival)
		result, _ := w.pass(plan("2")())
		Expect(result.Err()).To(HaveOccurred())
		inside := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: name, Name: "inside"}, inside)).To(Succeed())
		Expect(inside.Data).To(HaveKeyWithValue("value", "2"))
	})

	It("does not block children of another kind of the same group", func() {
		w := newWorld()
		plan := func() apply.Plan {
			var p apply.Plan
			p.Apply(&apiextensionsv1.CustomResourceDefinition{
				ObjectMeta: metav1.ObjectMeta{Name: "bads." + ruleKind.Group},
				Spec: apiextensionsv1.CustomResourceDefinitionSpec{
					Group: ruleKind.Group, Scope: apiextensionsv1.NamespaceScoped,
					Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Bad", ListKind: "BadList", Plural: "bads", Singular: "bad"},
				},
			})
			p.Apply(rule(map[string]any{"config": map[string]any{"a": "1"}})())
			return p
		}
		result, _ := w.pass(plan())
		Expect(result.Err()).To(HaveOccurred())
		Expect(w.exists(rule(nil)())).To(BeTrue())
	})
})
