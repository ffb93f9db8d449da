package engine_test

import (
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// unwanted is a field that another manager sets and that a plan requires to be absent.
type unwanted struct {
	object func() client.Object
	path   string
	// set is a merge patch, or a JSON patch, that sets the field.
	set string
	as  types.PatchType
	// unset is a JSON patch that removes the field.
	unset string
	has   func(o client.Object) bool
}

func unwantedFields() map[string]unwanted {
	service := func() client.Object {
		return &corev1.Service{ObjectMeta: meta("it"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80}}}}
	}
	workload := func() client.Object {
		o := deployment("it")
		o.Spec.Template.Spec.Tolerations = nil
		return o
	}
	return map[string]unwanted{
		"an annotation with dots and a slash": {
			object: service, path: `metadata.annotations["example.com/class"]`, as: types.MergePatchType,
			set:   `{"metadata":{"annotations":{"example.com/class":"x","other":"y"}}}`,
			unset: `[{"op":"remove","path":"/metadata/annotations/example.com~1class"}]`,
			has:   func(o client.Object) bool { _, has := o.GetAnnotations()["example.com/class"]; return has },
		},
		"a label": {
			object: workload, path: "metadata.labels.foreign", as: types.MergePatchType,
			set:   `{"metadata":{"labels":{"foreign":"x","other":"y"}}}`,
			unset: `[{"op":"remove","path":"/metadata/labels/foreign"}]`,
			has:   func(o client.Object) bool { _, has := o.GetLabels()["foreign"]; return has },
		},
		"a port of a Service": {
			object: service, path: "spec.ports[port=8080]", as: types.JSONPatchType,
			set:   `[{"op":"add","path":"/spec/ports/0","value":{"name":"debug","port":8080}}]`,
			unset: `[{"op":"remove","path":"/spec/ports/0"}]`,
			has: func(o client.Object) bool {
				for _, p := range o.(*corev1.Service).Spec.Ports {
					if p.Port == 8080 {
						return true
					}
				}
				return false
			},
		},
		"a field of a container": {
			object: workload, path: "spec.template.spec.containers[name=main].workingDir", as: types.StrategicMergePatchType,
			set:   `{"spec":{"template":{"spec":{"containers":[{"name":"main","workingDir":"/x"}]}}}}`,
			unset: `[{"op":"remove","path":"/spec/template/spec/containers/0/workingDir"}]`,
			has: func(o client.Object) bool {
				return o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].WorkingDir != ""
			},
		},
		"an item of an atomic list": {
			object: workload, path: "spec.template.spec.tolerations[key=bad]", as: types.JSONPatchType,
			set: `[{"op":"add","path":"/spec/template/spec/tolerations","value":[` +
				`{"key":"bad","operator":"Exists"},{"key":"good","operator":"Exists"},{"key":"bad","effect":"NoSchedule","operator":"Exists"}]}]`,
			unset: `[{"op":"remove","path":"/spec/template/spec/tolerations"}]`,
			has: func(o client.Object) bool {
				for _, t := range tolerationsOf(o) {
					if t.Key == "bad" {
						return true
					}
				}
				return false
			},
		},
	}
}

var _ = Describe("A field that is planned absent", func() {
	for what, field := range unwantedFields() {
		plan := func() apply.Plan {
			var p apply.Plan
			p.Apply(field.object(), apply.Absent(field.path))
			return p
		}
		stored := func(w *world) client.Object {
			GinkgoHelper()
			o := field.object()
			Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "it"}, o)).To(Succeed())
			return o
		}
		It("is removed with one write, whichever manager sets it: "+what, func() {
			w := newWorld()
			w.converge(plan)
			Expect(field.has(stored(w))).To(BeFalse())
			w.quiet(2, plan)
			for _, restart := range []bool{false, true} {
				w.edit(field.object(), field.as, field.set, "user")
				w.syncedObject(field.object())
				Expect(field.has(stored(w))).To(BeTrue())
				if restart {
					w.restart()
					w.syncedObject(field.object())
				}
				decisions, err := w.engine.Diff(w.ctx, w.stored(), plan(), engine.DiffOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(decisions.Objects).To(HaveLen(1))
				Expect(decisions.Objects[0].Verb).To(Equal(apply.VerbUpdate))
				Expect(decisions.String()).To(ContainSubstring("\n  - ."))
				dry, err := w.engine.Diff(w.ctx, w.stored(), plan(), engine.DiffOptions{ServerDryRun: true})
				Expect(err).NotTo(HaveOccurred())
				Expect(dry.Objects[0].Verb).To(Equal(apply.VerbUpdate))
				Expect(dry.Objects[0].Fields).NotTo(BeEmpty())
				Expect(field.has(stored(w))).To(BeTrue(), "a diff changes nothing")
				w.requests.take()
				result, sent := w.pass(plan())
				Expect(result.Err()).NotTo(HaveOccurred())
				Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeUpdated))
				Expect(result.Objects[0].Fields).NotTo(BeEmpty())
				Expect(writes(sent)).To(HaveLen(1), "%v", sent)
				Expect(field.has(stored(w))).To(BeFalse())
				w.synced(plan)
				w.quiet(2, plan)
			}
			By("keeping other fields of the manager without a request")
			w.edit(field.object(), types.MergePatchType, `{"metadata":{"annotations":{"more":"z"}}}`, "user")
			w.syncedObject(field.object())
			w.quiet(2, plan)
			if what == "an item of an atomic list" {
				Expect(tolerationsOf(stored(w))).To(HaveLen(1), "the good one")
			}
			By("removing the rule from the plan")
			without := func() apply.Plan {
				p := plan()
				p.Children[0].Fields = nil
				return p
			}
			w.converge(without)
			w.edit(field.object(), field.as, field.set, "user")
			w.syncedObject(field.object())
			w.quiet(2, without)
			Expect(field.has(stored(w))).To(BeTrue())
			By("adding the rule to the plan again")
			result, _ := w.pass(plan())
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(field.has(stored(w))).To(BeFalse())
		})

		It("is reported if another manager sets it after each removal: "+what, func() {
			w := newWorld()
			w.converge(plan)
			removed := 0
			var contested *apply.ContestedError
			for range 12 {
				w.edit(field.object(), field.as, field.set, "stubborn")
				w.syncedObject(field.object())
				result, sent := w.pass(plan())
				removed += len(writes(sent))
				if errors.As(result.Err(), &contested) {
					break
				}
				w.syncedObject(field.object())
				w.clock.Step(time.Second)
			}
			Expect(contested).To(HaveOccurred())
			Expect(contested.Fields).NotTo(BeEmpty())
			Expect(contested.Fields[0].Manager).To(Equal("stubborn"))
			Expect(removed).To(BeNumerically("<=", 6))
			for range 3 {
				result, sent := w.pass(plan())
				Expect(sent).To(BeEmpty())
				Expect(errors.As(result.Err(), &contested)).To(BeTrue())
			}
			By("stopping the other manager")
			w.edit(field.object(), types.JSONPatchType, field.unset, "stubborn")
			w.converge(plan)
		})
	}

	It("is removed from the fields of another applier, and is not sent if the planned object sets it", func() {
		w := newWorld()
		plan := func() apply.Plan {
			var p apply.Plan
			p.Apply(&corev1.ConfigMap{ObjectMeta: meta("cm"), Data: map[string]string{"ours": "1", "not": "2"}}, apply.Absent("data.not"))
			return p
		}
		w.converge(plan)
		apply1 := func() {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm", Namespace: w.namespace}, Data: map[string]string{"not": "x", "theirs": "y"}}
			o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			//nolint:staticcheck // as another controller applies
			Expect(w.admin.Patch(w.ctx, o, client.Apply, client.FieldOwner("applier"))).To(Succeed())
		}
		apply1()
		w.syncedObject(configMap("cm", ""))
		w.converge(plan)
		o := configMap("cm", "")
		o.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		Expect(o.Data).To(Equal(map[string]string{"ours": "1", "theirs": "y"}))
	})

	It("is removed in the reconciliation that adopts the object or changes the plan, also after a concurrent write", func() {
		w := newWorld()
		o := w.theirs(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm"}, Data: map[string]string{"not": "x", "theirs": "y"}})
		w.syncedObject(configMap("cm", ""))
		plan := one(cm("1"), apply.Absent("data.not"), apply.AdoptUncontrolled)
		result, _ := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		Expect(o.(*corev1.ConfigMap).Data).To(Equal(map[string]string{"value": "1", "theirs": "y"}))
		w.converge(plan)
		By("writing between the read and the patch")
		w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"not":"x"}}`, "user")
		w.syncedObject(configMap("cm", ""))
		w.meanwhile(func() {
			w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"theirs":"z"}}`, "user")
		})
		result, _ = w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		Expect(o.(*corev1.ConfigMap).Data).To(Equal(map[string]string{"value": "1", "theirs": "z"}))
		w.converge(plan)
		By("removing it without an update of the cache")
		w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"not":"x"}}`, "user")
		w.syncedObject(configMap("cm", ""))
		w.meanwhile(func() {
			w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"not":null}}`, "user")
		})
		result, _ = w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		w.converge(plan)
	})

	It("is not removed from an object of another owner, except by a contribution", func() {
		w := newWorld()
		o := w.theirs(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm"}, Data: map[string]string{"not": "x", "theirs": "y"}})
		w.syncedObject(configMap("cm", ""))
		for _, options := range [][]apply.ChildOption{{apply.Shared}, {apply.Retained}} {
			var p apply.Plan
			p.Apply(configMap("cm", ""), append(options, apply.Absent("data.not"))...)
			result, _ := w.pass(p)
			Expect(ownedByAnother(result)).To(BeTrue())
			w.untouched(o)
		}
		result, _ := w.pass(one(cm("1"), apply.Absent("data.not"))())
		Expect(ownedByAnother(result)).To(BeTrue())
		w.untouched(o)
		contribution := func() apply.Plan {
			var p apply.Plan
			p.Contribute(&corev1.ConfigMap{ObjectMeta: meta("cm")}, apply.Absent("data.not"))
			return p
		}
		w.converge(contribution)
		w.quiet(2, contribution)
		data := func() map[string]string {
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
			return o.(*corev1.ConfigMap).Data
		}
		Expect(data()).To(Equal(map[string]string{"theirs": "y"}))
		By("releasing the contribution")
		w.converge(func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} })
		Expect(data()).To(Equal(map[string]string{"theirs": "y"}), "nothing is put back")
		Expect(w.stored().Finalizers).To(BeEmpty())
	})

	It("is found if the cache strips managedFields", func() {
		w := newWorld(func(w *world) {
			w.transform = func(in any) (any, error) {
				if o, ok := in.(client.Object); ok {
					o.SetManagedFields(nil)
				}
				return in, nil
			}
		})
		plan := one(cm("1"), apply.Absent("data.not"))
		w.converge(plan)
		w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"not":"x"}}`, "user")
		w.syncedObject(configMap("cm", ""))
		result, _ := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		w.converge(plan)
		o := configMap("cm", "")
		o.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		Expect(o.Data).To(Equal(map[string]string{"value": "1"}))
	})

	It("that the API server requires is an error without repeated requests", func() {
		w := newWorld()
		plan := one(func() client.Object { return deployment("it") }, apply.Absent("spec.selector"), apply.Recreate())
		w.converge(one(func() client.Object { return deployment("it") }))
		uid := w.uidOf(deployment("it"))
		result, _ := w.pass(plan())
		Expect(result.Err()).To(HaveOccurred())
		_, sent := w.pass(plan())
		Expect(writes(sent)).To(BeEmpty())
		Expect(w.uidOf(deployment("it"))).To(Equal(uid))
	})

	for _, path := range []string{
		"metadata", "metadata.name", "metadata.labels", "metadata.finalizers", "metadata.ownerReferences", "status.replicas", "kind",
		`metadata.labels["` + applyset.PartOfLabel + `"]`, `metadata.annotations["` + applyset.SharedAnnotation + `"]`,
		`metadata.annotations["` + apply.GroupAnnotation + `"]`,
	} {
		It(fmt.Sprintf("cannot be %s", path), func() {
			w := newWorld()
			result, sent := w.pass(one(cm("1"), apply.Absent(path))())
			Expect(result.Err()).To(MatchError(ContainSubstring("cannot be planned absent")))
			Expect(writes(sent)).NotTo(ContainElement(ContainSubstring("configmaps")))
		})
	}
})

func tolerationsOf(o client.Object) []corev1.Toleration {
	return o.(*appsv1.Deployment).Spec.Template.Spec.Tolerations
}

// uidOf returns the UID of a stored object.
func (w *world) uidOf(o client.Object) types.UID {
	GinkgoHelper()
	o.SetNamespace(w.namespace)
	Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
	return o.GetUID()
}
