package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("An object field that a plan empties", func() {
	rule := func(spec map[string]any) func() []client.Object {
		return func() []client.Object {
			u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			u.SetGroupVersionKind(ruleKind)
			u.SetName("rule")
			return []client.Object{u}
		}
	}
	one := map[string]any{"a": "1"}
	empty := map[string]any{}
	for name, c := range map[string]struct{ before, after map[string]any }{
		"with arbitrary fields":        {map[string]any{"config": one}, map[string]any{"config": empty}},
		"a part with arbitrary fields": {map[string]any{"config": map[string]any{"b": one}}, map[string]any{"config": map[string]any{"b": empty}}},
		"two levels":                   {map[string]any{"config": map[string]any{"b": one}}, map[string]any{"config": empty}},
		"atomic":                       {map[string]any{"whole": one}, map[string]any{"whole": empty}},
		"next to another field":        {map[string]any{"config": one, "set": []any{"x"}}, map[string]any{"config": empty, "set": []any{"x"}}},
		"in an item of a list":         {map[string]any{"items": []any{map[string]any{"limits": one}}}, map[string]any{"items": []any{map[string]any{"limits": empty}}}},
		"with a remaining field":       {map[string]any{"config": map[string]any{"b": one, "c": one}}, map[string]any{"config": map[string]any{"b": empty, "c": one}}},
		"the entire spec":              {map[string]any{"config": one}, empty},
		"a list that is a set":         {map[string]any{"set": []any{"x"}}, map[string]any{"set": []any{}}},
	} {
		It("is stored empty: "+name, func() {
			w := newWorld()
			w.converge(planOf(rule(runtimeCopy(c.before))))
			w.converge(planOf(rule(runtimeCopy(c.after))))
			u := rule(nil)()[0].(*unstructured.Unstructured)
			Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "rule"}, u)).To(Succeed())
			Expect(u.Object["spec"]).To(Equal(any(c.after)))
		})
	}
})
