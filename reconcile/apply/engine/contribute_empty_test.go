package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A contribution to an existing empty field", func() {
	rule := func(spec map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "target"}, "spec": spec}}
		u.SetGroupVersionKind(ruleKind)
		return u
	}
	theirs := func() map[string]any {
		return map[string]any{"config": map[string]any{"deep": map[string]any{}, "other": "1"}, "set": []any{}}
	}
	plan := func() apply.Plan {
		var p apply.Plan
		p.Contribute(rule(map[string]any{
			"config": map[string]any{"deep": map[string]any{"ours": map[string]any{"a": "1"}}, "absent": map[string]any{"a": "1"}}, "set": []any{"ours"},
		}))
		return p
	}
	withdrawn := func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} }

	var w *world
	var target *unstructured.Unstructured
	stored := func() map[string]any {
		GinkgoHelper()
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(target), target)).To(Succeed())
		return target.Object["spec"].(map[string]any)
	}
	BeforeEach(func() {
		w = newWorld()
		target = rule(theirs())
		target.SetNamespace(w.namespace)
		Expect(w.admin.Create(w.ctx, target, client.FieldOwner("user"))).To(Succeed())
		w.syncedObject(target)
		w.converge(plan)
		Expect(stored()).To(HaveKeyWithValue("set", ConsistOf("ours")))
	})

	It("leaves the empty map and the empty list after its release", func() {
		entries := len(target.GetManagedFields())
		w.converge(withdrawn)
		Expect(stored()).To(Equal(theirs()))
		Expect(target.GetManagedFields()).To(HaveLen(entries - 1))
		Expect(w.stored().Finalizers).To(BeEmpty())
	})

	It("leaves values that another manager added", func() {
		w.edit(target, types.MergePatchType, `{"spec":{"set":["ours","theirs"],"config":{"deep":{"theirs":"1"}}}}`, "user")
		w.restart()
		w.syncedObject(target)
		w.converge(withdrawn)
		Expect(stored()).To(Equal(map[string]any{
			"config": map[string]any{"deep": map[string]any{"theirs": "1"}, "other": "1"}, "set": []any{"theirs"},
		}))
	})

	It("leaves them if it contributes other fields later", func() {
		w.converge(func() apply.Plan {
			var p apply.Plan
			p.Contribute(rule(map[string]any{"whole": map[string]any{"a": "1"}}))
			return p
		})
		want := theirs()
		want["whole"] = map[string]any{"a": "1"}
		Expect(stored()).To(Equal(want))
	})

	It("leaves them if it contributes only a part later", func() {
		w.converge(func() apply.Plan {
			var p apply.Plan
			p.Contribute(rule(map[string]any{"config": map[string]any{"absent": map[string]any{"a": "1"}}}))
			return p
		})
		want := theirs()
		want["config"].(map[string]any)["absent"] = map[string]any{"a": "1"}
		Expect(stored()).To(Equal(want))
	})
})
