package engine_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var tableKind = schema.GroupVersionKind{Group: "test.reconcilekit.dev", Version: "v1", Kind: "Table"}

// tableCRD has a map list with unique labels and at most two items.
func tableCRD() *apiextensionsv1.CustomResourceDefinition {
	crd := ruleCRD()
	crd.Name = "tables." + tableKind.Group
	crd.Spec.Group = tableKind.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Table", ListKind: "TableList", Plural: "tables", Singular: "table"}
	text := apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: new(int64(20))}
	item := apiextensionsv1.JSONSchemaProps{Type: "object", Required: []string{"id"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"id": text, "label": text, "note": text,
	}}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"columns": {
			Type: "array", XListType: new("map"), XListMapKeys: []string{"id"}, MaxItems: new(int64(5)),
			Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item},
			XValidations: apiextensionsv1.ValidationRules{{
				Rule: "self.all(a, self.exists_one(b, a.label == b.label))", Message: "labels must differ",
			}},
		}},
	}
	return crd
}

var _ = Describe("Drift that does not merge with the plan", func() {
	service := func() client.Object {
		return &corev1.Service{ObjectMeta: meta("svc"), Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "a"}, Ports: []corev1.ServicePort{{Name: "http", Port: 80}},
		}}
	}
	twoPorts := func() client.Object {
		s := service().(*corev1.Service)
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "admin", Port: 9000, TargetPort: intstr.FromInt32(9001)})
		return s
	}
	workload := func(change func(*appsv1.Deployment)) func() client.Object {
		return func() client.Object {
			d := deployment("deploy")
			change(d)
			return d
		}
	}
	volume := workload(func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Volumes = append(d.Spec.Template.Spec.Volumes, corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}},
		}})
	})
	env := workload(func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}}
	})
	strategy := workload(func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType })
	table := func() client.Object {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"columns": []any{
			map[string]any{"id": "a", "label": "one"}, map[string]any{"id": "b", "label": "two"},
		}}}}
		u.SetGroupVersionKind(tableKind)
		u.SetName("table")
		return u
	}
	type situation struct {
		child func() client.Object
		patch string // a JSON patch
	}
	situations := map[string]situation{
		"the number of a port":   {service, `[{"op":"replace","path":"/spec/ports/0/port","value":81}]`},
		"the protocol of a port": {service, `[{"op":"replace","path":"/spec/ports/0/protocol","value":"UDP"}]`},
		"number and protocol of one of two ports": {
			twoPorts, `[{"op":"replace","path":"/spec/ports/1/port","value":9009},{"op":"replace","path":"/spec/ports/1/protocol","value":"UDP"}]`,
		},
		"the numbers of all ports": {
			twoPorts, `[{"op":"replace","path":"/spec/ports/0/port","value":1},{"op":"replace","path":"/spec/ports/1/port","value":2}]`,
		},
		"an additional port with the name of a planned one": {
			twoPorts, `[{"op":"replace","path":"/spec/ports/1/name","value":"x"},{"op":"add","path":"/spec/ports/-","value":{"name":"admin","port":7}}]`,
		},
		"the source of a volume": {
			volume, `[{"op":"replace","path":"/spec/template/spec/volumes/3","value":{"name":"v","emptyDir":{}}}]`,
		},
		"the source of a variable": {
			env, `[{"op":"replace","path":"/spec/template/spec/containers/0/env/0",
				"value":{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}}]`,
		},
		"the type of a union": {
			strategy, `[{"op":"replace","path":"/spec/strategy","value":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":2}}}]`,
		},
		"the key of an item, against a rule of its list": {table, `[{"op":"replace","path":"/spec/columns/1/id","value":"c"}]`},
		"an additional item, against a rule of its list": {
			table, `[{"op":"replace","path":"/spec/columns/1/label","value":"x"},{"op":"add","path":"/spec/columns/-","value":{"id":"c","label":"two"}}]`,
		},
	}
	spec := func(w *world, child client.Object) any {
		GinkgoHelper()
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(child.GetObjectKind().GroupVersionKind())
		if gvk, err := w.admin.GroupVersionKindFor(child); err == nil {
			u.SetGroupVersionKind(gvk)
		}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: child.GetName()}, u)).To(Succeed())
		return u.Object["spec"]
	}

	for name, s := range situations {
		for _, restart := range []bool{false, true} {
			It(name+suffix(restart)+" is removed, and what others have added besides stays", func() {
				w := newWorld()
				plan := planOf(func() []client.Object { return []client.Object{s.child()} })
				w.converge(plan)
				child := s.child()
				w.edit(child, types.MergePatchType, `{"metadata":{"annotations":{"theirs":"1"}}}`, "kubectl-annotate")
				right := spec(w, s.child())
				w.edit(s.child(), types.JSONPatchType, s.patch, "rogue")
				Expect(spec(w, s.child())).NotTo(Equal(right))
				if restart {
					w.restart()
				}
				result, sent := w.pass(plan())
				Expect(result.Err()).NotTo(HaveOccurred(), "%v", sent)
				Expect(spec(w, s.child())).To(Equal(right))
				Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeUpdated))
				w.converge(plan)
				w.quiet(2, plan)
				Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: child.GetName()}, child)).To(Succeed())
				Expect(child.GetAnnotations()).To(HaveKeyWithValue("theirs", "1"))
			})
		}
	}

	It("is reported with the other manager, not as an invalid plan", func() {
		w := newWorld()
		plan := planOf(func() []client.Object { return []client.Object{service()} })
		w.converge(plan)
		var contested *apply.ContestedError
		for range 12 {
			w.edit(service(), types.JSONPatchType, `[{"op":"replace","path":"/spec/ports/0/port","value":81}]`, "rogue")
			result, _ := w.pass(plan())
			if errors.As(result.Err(), &contested) {
				break
			}
			Expect(result.Err()).NotTo(HaveOccurred())
			w.synced(plan)
			w.clock.Step(time.Second)
		}
		Expect(contested).To(HaveOccurred())
		Expect(contested.Fields).To(ContainElement(And(HaveField("Manager", "rogue"), HaveField("Path", ContainSubstring("ports")))))
		w.pass(plan())
		result, sent := w.pass(plan())
		Expect(errors.As(result.Err(), &contested)).To(BeTrue())
		Expect(writes(sent)).To(BeEmpty())
	})

	It("by an applier is reported", func() {
		w := newWorld()
		plan := planOf(func() []client.Object { return []client.Object{service()} })
		w.converge(plan)
		w.edit(&corev1.Service{ObjectMeta: meta("svc")}, types.JSONPatchType, `[{"op":"replace","path":"/spec/ports/0/name","value":"x"}]`, "rogue")
		theirs := &corev1.Service{ObjectMeta: meta("svc")}
		w.edit(theirs, types.ApplyPatchType,
			`{"apiVersion":"v1","kind":"Service","metadata":{"name":"svc"},"spec":{"ports":[{"name":"http","port":81}]}}`, "applier")
		result, _ := w.pass(plan())
		var contested *apply.ContestedError
		Expect(errors.As(result.Err(), &contested)).To(BeTrue(), "%v", result.Err())
		Expect(contested.Fields).To(ContainElement(HaveField("Manager", "applier")))
		_, sent := w.pass(plan())
		Expect(writes(sent)).To(BeEmpty())
	})

	It("does not hide an invalid plan", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object { return []client.Object{service()} }))
		w.edit(service(), types.JSONPatchType, `[{"op":"replace","path":"/spec/ports/0/port","value":81}]`, "rogue")
		invalid := service().(*corev1.Service)
		invalid.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}, {Name: "http", Port: 90}}
		result, _ := w.pass(planOf(func() []client.Object { return []client.Object{invalid} })())
		Expect(result.Err()).To(MatchError(ContainSubstring("Duplicate")))
		var contested *apply.ContestedError
		Expect(errors.As(result.Err(), &contested)).To(BeFalse())
		s := &corev1.Service{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "svc"}, s)).To(Succeed())
		Expect(s.Spec.Ports[0].Port).To(Equal(int32(81)))
	})
})

func suffix(restart bool) string {
	if restart {
		return ", changed while nobody watched,"
	}
	return ""
}
