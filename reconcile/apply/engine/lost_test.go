package engine_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

const wipedManagedFields = `{"metadata":{"managedFields":[{}]}}`

var _ = Describe("Lost managedFields", func() {
	planned := func(data map[string]string) func() apply.Plan {
		return planOf(func() []client.Object {
			return []client.Object{&corev1.ConfigMap{ObjectMeta: meta("lost"), Data: data}}
		})
	}
	both, one := planned(map[string]string{"a": "1", "b": "2"}), planned(map[string]string{"a": "1"})

	// stored returns the data of the ConfigMap and the managers of its fields.
	stored := func(w *world) (map[string]string, []string) {
		GinkgoHelper()
		cm := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "lost"}, cm)).To(Succeed())
		var managers []string
		for _, e := range cm.ManagedFields {
			managers = append(managers, e.Manager+" "+string(e.Operation))
		}
		return cm.Data, managers
	}

	It("do not prevent the removal of fields that leave the plan in the same reconciliation", func() {
		w := newWorld()
		w.converge(both)
		w.edit(configMap("lost", ""), types.MergePatchType, wipedManagedFields, "x")
		w.converge(one)
		data, managers := stored(w)
		Expect(data).To(Equal(map[string]string{"a": "1"}))
		Expect(managers).To(ConsistOf(manager + " Apply"))
	})

	It("do not prevent the removal of fields that leave the plan later", func() {
		w := newWorld()
		w.converge(both)
		w.edit(configMap("lost", ""), types.MergePatchType, wipedManagedFields, "x")
		w.converge(both)
		w.converge(one)
		data, managers := stored(w)
		Expect(data).To(Equal(map[string]string{"a": "1"}))
		Expect(managers).To(ConsistOf(manager + " Apply"))
	})

	It("are restored for fields without a manager after an apply of another manager", func() {
		w := newWorld()
		w.converge(both)
		w.edit(configMap("lost", ""), types.MergePatchType, wipedManagedFields, "x")
		theirs := configMap("lost", "")
		theirs.Namespace = w.namespace
		Expect(w.admin.Patch(w.ctx, theirs, client.RawPatch(types.ApplyPatchType,
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap","data":{"theirs":"x"}}`)), client.FieldOwner("other"))).To(Succeed())
		w.syncedObject(theirs)
		w.converge(one)
		data, managers := stored(w)
		Expect(data).To(Equal(map[string]string{"a": "1", "theirs": "x"}))
		Expect(managers).To(ConsistOf(manager+" Apply", "other Apply"))
	})

	It("in a part of the engine's entry do not prevent the removal of its fields, except those that another manager owns now", func() {
		w := newWorld()
		w.converge(planned(map[string]string{"a": "1", "b": "2", "c": "3"}))
		w.edit(configMap("lost", ""), types.MergePatchType, `{"data":{"c":"theirs"}}`, "other")
		cm := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "lost"}, cm)).To(Succeed())
		for i := range cm.ManagedFields {
			if cm.ManagedFields[i].Manager == manager {
				cm.ManagedFields[i].FieldsV1 = metav1.NewFieldsV1(strings.Replace(string(cm.ManagedFields[i].FieldsV1.GetRawBytes()), `"f:b":{}`, `"f:gone":{}`, 1))
			}
		}
		Expect(w.admin.Update(w.ctx, cm, client.FieldOwner("cutter"))).To(Succeed())
		w.syncedObject(cm)
		w.converge(one)
		data, managers := stored(w)
		Expect(data).To(Equal(map[string]string{"a": "1", "c": "theirs"}))
		Expect(managers).To(ConsistOf(manager+" Apply", "other Update"))
	})

	It("of a create-only field do not remove it when all other fields leave the plan", func() {
		w := newWorld()
		key := client.ObjectKey{Namespace: w.namespace, Name: "rule"}
		rule := func(x string, config map[string]any) func() apply.Plan {
			return func() (plan apply.Plan) {
				u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"whole": map[string]any{"x": x}}}}
				if config != nil {
					u.Object["spec"].(map[string]any)["config"] = config
				}
				u.SetGroupVersionKind(ruleKind)
				u.SetName(key.Name)
				plan.Apply(u, apply.CreateOnly("spec.whole"))
				return plan
			}
		}
		stored := func() *unstructured.Unstructured {
			GinkgoHelper()
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(ruleKind)
			Expect(w.admin.Get(w.ctx, key, u)).To(Succeed())
			return u
		}
		cut := func(field string) {
			GinkgoHelper()
			u := stored()
			entries := u.GetManagedFields()
			for i := range entries {
				var fields map[string]any
				Expect(json.Unmarshal(entries[i].FieldsV1.GetRawBytes(), &fields)).To(Succeed())
				path := strings.Split(field, " ")
				unstructured.RemoveNestedField(fields, path...)
				raw, err := json.Marshal(fields)
				Expect(err).NotTo(HaveOccurred())
				entries[i].FieldsV1 = metav1.NewFieldsV1(string(raw))
			}
			u.SetManagedFields(entries)
			Expect(w.admin.Update(w.ctx, u, client.FieldOwner("cutter"))).To(Succeed())
			w.syncedObject(u)
		}
		w.converge(rule("1", map[string]any{"b": "1", "c": "1"}))
		cut("f:spec f:whole")
		w.converge(rule("2", map[string]any{"b": "2", "c": "1"}))
		cut("f:spec f:config f:b")
		w.converge(rule("2", nil))
		Expect(stored().Object["spec"]).To(Equal(map[string]any{"whole": map[string]any{"x": "1"}}))
	})

	It("in the engine's entry alone do not prevent the removal of fields that leave the plan", func() {
		w := newWorld()
		w.converge(both)
		w.edit(configMap("lost", ""), types.MergePatchType, `{"data":{"theirs":"x"}}`, "other")
		w.converge(both)
		cm := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "lost"}, cm)).To(Succeed())
		for i := range cm.ManagedFields {
			if cm.ManagedFields[i].Manager == "other" {
				cm.ManagedFields = cm.ManagedFields[i : i+1]
				break
			}
		}
		Expect(w.admin.Update(w.ctx, cm, client.FieldOwner("x"))).To(Succeed())
		w.syncedObject(configMap("lost", ""))
		w.converge(one)
		data, _ := stored(w)
		Expect(data).To(Equal(map[string]string{"a": "1", "theirs": "x"}))
	})
})

var _ = Describe("An empty planned map", func() {
	spec := func(content map[string]any) func() apply.Plan {
		return planOf(func() []client.Object { return []client.Object{rule(map[string]any{"config": content})()} })
	}

	// config returns the stored field, or nil.
	config := func(w *world) any {
		GinkgoHelper()
		r := rule(nil)()
		r.SetNamespace(w.namespace)
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(r), r)).To(Succeed())
		stored, _ := r.(*unstructured.Unstructured).Object["spec"].(map[string]any)
		return stored["config"]
	}

	It("is applied once more if the first apply does not store it", func() {
		w := newWorld()
		w.converge(spec(map[string]any{"a": map[string]any{"b": "c"}}))
		w.converge(spec(map[string]any{"a": map[string]any{}}))
		Expect(config(w)).To(Equal(map[string]any{"a": map[string]any{}}))
	})

	It("does not remove values that are added later", func() {
		w := newWorld()
		w.converge(spec(map[string]any{"a": map[string]any{}}))
		w.edit(rule(nil)(), types.MergePatchType, `{"spec":{"config":{"a":{"b":"c"}}}}`, "other")
		w.converge(spec(map[string]any{"a": map[string]any{"b": "c"}}))
		w.edit(rule(nil)(), types.MergePatchType, `{"spec":{"config":{"a":{"b":null}}}}`, "other")
		w.converge(spec(map[string]any{"a": map[string]any{"b": "c"}}))
		Expect(config(w)).To(Equal(map[string]any{"a": map[string]any{"b": "c"}}))
	})

	It("causes no writes for empty labels and annotations", func() {
		w := newWorld()
		plan := planOf(func() []client.Object {
			r := rule(map[string]any{"config": map[string]any{}})()
			r.(*unstructured.Unstructured).Object["metadata"] = map[string]any{
				"name": "equal", "labels": map[string]any{}, "annotations": map[string]any{},
			}
			return []client.Object{r}
		})
		w.converge(plan)
		w.quiet(3, plan)
	})
})
