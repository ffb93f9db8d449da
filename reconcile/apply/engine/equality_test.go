package engine_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var ruleKind = schema.GroupVersionKind{Group: "equality.reconcilekit.dev", Version: "v1", Kind: "Rule"}

// ruleCRD defines a kind with an atomic list and with free-form
// JSON. Its field names are those of built-in fields that have defaults
// or are quantities; here they have no special meaning.
func ruleCRD() *apiextensionsv1.CustomResourceDefinition {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	item := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"name": text, "protocol": text, "value": text, "allow": {Type: "boolean"}, "n": {Type: "integer"},
		"auto": {Type: "object"}, "limits": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text}},
	}}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"items":  {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}},
		"config": {Type: "object", XPreserveUnknownFields: new(true)},
		"whole":  {Type: "object", XPreserveUnknownFields: new(true), XMapType: new("atomic")},
		"set":    {Type: "array", XListType: new("set"), Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}},
	}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "rules." + ruleKind.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: ruleKind.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Rule", ListKind: "RuleList", Plural: "rules", Singular: "rule"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: ruleKind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
				}},
			}},
		},
	}
}

// typedRule is the Go type of the kind in an operator.
type typedRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec typedRuleSpec `json:"spec,omitempty"`
}

type typedRuleSpec struct {
	Config apiextensionsv1.JSON `json:"config,omitempty"`
	Items  []typedRuleItem      `json:"items,omitempty"`
}

// typedRuleItem lacks some fields of the kind.
type typedRuleItem struct {
	Name string `json:"name,omitempty"`
}

func (r *typedRule) DeepCopyObject() runtime.Object {
	out := &typedRule{TypeMeta: r.TypeMeta, ObjectMeta: *r.ObjectMeta.DeepCopy()}
	out.Spec.Config = *r.Spec.Config.DeepCopy()
	out.Spec.Items = append([]typedRuleItem(nil), r.Spec.Items...)
	return out
}

type typedRuleList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []typedRule `json:"items"`
}

func (l *typedRuleList) DeepCopyObject() runtime.Object {
	out := &typedRuleList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*typedRule))
	}
	return out
}

func rule(spec map[string]any) func() client.Object {
	return func() client.Object {
		u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(map[string]any{"spec": spec})}
		u.SetGroupVersionKind(ruleKind)
		u.SetName("equal")
		return u
	}
}

func ruleItem(item map[string]any) func() client.Object {
	item["name"] = "a"
	return rule(map[string]any{"items": []any{item}})
}

func freeForm(config string) func() client.Object {
	return func() client.Object {
		r := &typedRule{ObjectMeta: metav1.ObjectMeta{Name: "equal"}}
		r.Spec.Config.Raw = []byte(config)
		return r
	}
}

func deploymentWith(change func(*corev1.PodSpec)) func() client.Object {
	return func() client.Object {
		d := &appsv1.Deployment{ObjectMeta: meta("equal"), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: podTemplate()}}
		change(&d.Spec.Template.Spec)
		return d
	}
}

func withVariable(value string) func() client.Object {
	return deploymentWith(func(s *corev1.PodSpec) {
		s.Containers[0].Env = append(s.Containers[0].Env, corev1.EnvVar{Name: "VERSION", Value: value})
	})
}

func toleration(seconds *int64) func() client.Object {
	return deploymentWith(func(s *corev1.PodSpec) {
		s.Tolerations = []corev1.Toleration{{Key: "k", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: seconds}}
	})
}

// expectApplied checks with the API server that a forced apply of the object under
// the engine's field manager would change nothing.
func expectApplied(w *world, o client.Object) {
	GinkgoHelper()
	content, err := engine.Intent(o)
	Expect(err).NotTo(HaveOccurred())
	gvk, err := w.admin.GroupVersionKindFor(o)
	Expect(err).NotTo(HaveOccurred())
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(gvk)
	Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: o.GetName()}, stored)).To(Succeed())
	intent := &unstructured.Unstructured{Object: content}
	intent.SetGroupVersionKind(gvk)
	intent.SetName(o.GetName())
	intent.SetNamespace(w.namespace)
	labels := intent.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[applyset.PartOfLabel] = stored.GetLabels()[applyset.PartOfLabel]
	intent.SetLabels(labels)
	intent.SetOwnerReferences(stored.GetOwnerReferences())
	Expect(w.admin.Apply(w.ctx, client.ApplyConfigurationFromUnstructured(intent), client.FieldOwner(manager), client.ForceOwnership, client.DryRunAll)).To(Succeed())
	Expect(intent.Object["spec"]).To(Equal(stored.Object["spec"]), "an apply would change the stored object")
}

var _ = DescribeTable("A changed plan is sent, however small the change",
	func(before, after func() client.Object) {
		for _, restarted := range []bool{false, true} {
			w := newWorld()
			first, second := planOf(listOf(before)), planOf(listOf(after))
			w.converge(first)
			w.synced(first)
			w.quiet(1, first)
			if restarted {
				w.restart()
			}
			result, sent := w.pass(second())
			Expect(result.Err()).NotTo(HaveOccurred())
			sent = slices.DeleteFunc(sent, func(line string) bool { return strings.HasSuffix(line, "(dry run)") }) // asks for the defaults of the plan
			Expect(sent).To(HaveLen(1))
			expectApplied(w, after())
			w.synced(second)
			w.quiet(2, second)
		}
	},
	Entry("free-form JSON of a Go type", freeForm(`{"replicas":1}`), freeForm(`{"replicas":2}`)),
	Entry("false in an item", ruleItem(map[string]any{}), ruleItem(map[string]any{"allow": false})),
	Entry("zero in an item", ruleItem(map[string]any{}), ruleItem(map[string]any{"n": int64(0)})),
	Entry("an empty text in an item", ruleItem(map[string]any{}), ruleItem(map[string]any{"value": ""})),
	Entry("an empty member of a union", ruleItem(map[string]any{}), ruleItem(map[string]any{"auto": map[string]any{}})),
	Entry("a zero that is removed", ruleItem(map[string]any{"n": int64(0)}), ruleItem(map[string]any{})),
	Entry("an empty list", rule(map[string]any{"config": map[string]any{}}), rule(map[string]any{"config": map[string]any{}, "items": []any{}})),
	Entry("a removed value that is a default of other kinds", ruleItem(map[string]any{"protocol": "TCP"}), ruleItem(map[string]any{})),
	Entry("a text that looks like a quantity", ruleItem(map[string]any{"value": "1"}), ruleItem(map[string]any{"value": "1.0"})),
	Entry("limits that are not quantities", ruleItem(map[string]any{"limits": map[string]any{"cpu": "500m"}}), ruleItem(map[string]any{"limits": map[string]any{"cpu": "0.5"}})),
	Entry("another order of a set", rule(map[string]any{"set": []any{"a", "b"}}), rule(map[string]any{"set": []any{"b", "a"}})),
	Entry("zero seconds of a toleration", toleration(nil), toleration(new(int64(0)))),
	Entry("a version that looks like a quantity", withVariable("1"), withVariable("1.0")),
	Entry("a size that looks like a quantity", withVariable("1Gi"), withVariable("1024Mi")),
)

func listOf(object func() client.Object) func() []client.Object {
	return func() []client.Object { return []client.Object{object()} }
}

var _ = Describe("A Go type that knows fewer fields than its kind", func() {
	It("removes a field in a list item that an earlier version of the operator sent", func() {
		w := newWorld()
		earlier := planOf(listOf(ruleItem(map[string]any{"n": int64(1)})))
		w.converge(earlier)
		w.restart()
		typed := func() client.Object {
			return &typedRule{ObjectMeta: metav1.ObjectMeta{Name: "equal"}, Spec: typedRuleSpec{Items: []typedRuleItem{{Name: "a"}}}}
		}
		plan := planOf(listOf(typed))
		result, _ := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		expectApplied(w, typed())
		w.synced(plan)
		w.quiet(2, plan)
	})
})
