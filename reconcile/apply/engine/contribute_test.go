package engine_test

import (
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("Contributions", func() {
	var w *world
	var target *corev1.ConfigMap
	BeforeEach(func() {
		w = newWorld()
		target = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: w.namespace}, Data: map[string]string{"theirs": "1"}}
		Expect(w.admin.Create(w.ctx, target)).To(Succeed())
	})

	contribution := func(key, value string) func() apply.Plan {
		return func() apply.Plan {
			var s apply.Plan
			s.Contribute(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target"}, Data: map[string]string{key: value}})
			return s
		}
	}
	data := func() map[string]string {
		GinkgoHelper()
		o := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(target), o)).To(Succeed())
		Expect(o.OwnerReferences).To(BeEmpty())
		Expect(o.Labels).To(BeEmpty())
		return o.Data
	}

	for title, takenOver := range map[string]bool{"at the first apply": true, "when the plan drops it": false} {
		It("replace those of a former manager "+title, func() {
			w.edit(target, types.MergePatchType, `{"data":{"one":"1","kept":"1"}}`, "old")
			if takenOver {
				w.options.FormerManagers = []string{"old"}
			}
			w.restart()
			w.syncedObject(target)
			w.converge(contribution("one", "1"))
			w.options.FormerManagers = []string{"old"}
			w.restart()
			w.converge(contribution("two", "2"))
			Expect(data()).To(Equal(map[string]string{"theirs": "1", "kept": "1", "two": "2"}))
			w.quiet(2, contribution("two", "2"))
		})
	}

	It("of several owners survive a restart and are released", func() {
		first, second := w.owner, w.newOwner("second")
		w.syncedObject(target)
		w.converge(contribution("one", "1"))
		Expect(w.stored().Finalizers).To(HaveLen(1))
		w.owner = second
		w.converge(contribution("two", "2"))
		Expect(data()).To(Equal(map[string]string{"theirs": "1", "one": "1", "two": "2"}))
		w.restart()
		w.quiet(2, contribution("two", "2"))

		By("removing a contribution from the plan")
		result, _ := w.pass(apply.Plan{})
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Objects).To(ContainElement(HaveField("Outcome", BeEquivalentTo(apply.OutcomeReleased))))
		Expect(data()).To(Equal(map[string]string{"theirs": "1", "one": "1"}))
		w.converge(func() apply.Plan { return apply.Plan{} })
		Expect(w.stored().Finalizers).To(BeEmpty())

		By("deleting the owner after a restart")
		w.owner = first
		w.restart()
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		result, _ = w.pass(apply.Plan{})
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeTrue())
		Expect(data()).To(Equal(map[string]string{"theirs": "1"}))
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(first), &widget.Widget{}))).To(BeTrue())
	})

	It("do not take fields of other managers", func() {
		w.syncedObject(target)
		result, _ := w.pass(contribution("theirs", "mine")())
		var contested *apply.ContestedError
		Expect(errors.As(result.Err(), &contested)).To(BeTrue())
		Expect(data()).To(HaveKeyWithValue("theirs", "1"))
	})

	It("never create the object, and end with its deletion", func() {
		w.syncedObject(target)
		w.converge(contribution("one", "1"))
		Expect(w.admin.Delete(w.ctx, target)).To(Succeed())
		Eventually(func(g Gomega) {
			result, sent := w.pass(contribution("one", "1")())
			g.Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeBlocked))
			g.Expect(writes(sent)).To(BeEmpty())
		}).Should(Succeed())
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(target), &corev1.ConfigMap{}))).To(BeTrue())
		w.converge(func() apply.Plan { return apply.Plan{} })
	})

	It("do not write to an object that replaced the target", func() {
		w.syncedObject(target)
		w.converge(contribution("one", "1"))
		Expect(w.admin.Delete(w.ctx, target)).To(Succeed())
		target.ResourceVersion, target.UID = "", ""
		Expect(w.admin.Create(w.ctx, target)).To(Succeed())
		w.pass(contribution("one", "2")()) // the cache may still contain the old object
		w.syncedObject(target)
		w.converge(contribution("one", "2"))
		Expect(data()).To(HaveKeyWithValue("one", "2"))
	})
})

var _ = Describe("The cache transform", func() {
	It("keeps the metadata that proves that nothing has to be sent", func() {
		w := newWorld(func(w *world) { w.transform = apply.ShortenManagedFields(manager) })
		plan := planOf(everydayKinds)
		w.converge(plan)
		for _, o := range everydayKinds() {
			o.SetNamespace(w.namespace)
			w.edit(o, types.MergePatchType, `{"metadata":{"annotations":{"theirs":"1"}}}`, "kubectl-annotate")
		}
		w.quiet(2, plan)
		cached := configMap("cm", "")
		Expect(w.client.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm"}, cached)).To(Succeed())
		Expect(cached.ManagedFields).To(HaveLen(2))
		for _, e := range cached.ManagedFields {
			Expect(e.FieldsV1 != nil).To(Equal(e.Manager == manager))
		}
		w.restart()
		w.quiet(2, plan)

		By("repairing drift with one PATCH")
		w.edit(deployment("deploy"), types.MergePatchType, `{"spec":{"replicas":9}}`, "kubectl-edit")
		_, sent := w.pass(plan())
		Expect(sent).To(HaveLen(1))
		w.quiet(2, plan)
	})

	It("is optional: without managedFields, changes are found by comparing values", func() {
		strip := func(in any) (any, error) {
			if o, ok := in.(client.Object); ok {
				o.SetManagedFields(nil)
			}
			return in, nil
		}
		w := newWorld(func(w *world) { w.transform = strip })
		plan := planOf(everydayKinds)
		w.converge(plan)
		w.quiet(2, plan)
		w.edit(deployment("deploy"), types.MergePatchType, `{"metadata":{"annotations":{"theirs":"1"}}}`, "x")
		w.quiet(2, plan)
		w.edit(deployment("deploy"), types.MergePatchType, `{"spec":{"replicas":9}}`, "kubectl-edit")
		result, sent := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(len(sent)).To(BeNumerically("<=", 2))
		w.converge(plan)
		stored := deployment("deploy")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(*stored.Spec.Replicas).To(Equal(int32(2)))
		w.restart()
		_, sent = w.pass(plan())
		Expect(len(sent)).To(BeNumerically("<=", len(everydayKinds())))
		w.quiet(2, plan)
	})
})

var _ = Describe("A contribution to an item of a list with keys", func() {
	items := map[string]struct {
		target, part func() client.Object
		// adds a field to another manager's item, or a new item
		has func(o client.Object) []string
		own string
	}{
		"a field of a port": {
			func() client.Object {
				return &corev1.Service{ObjectMeta: meta("target"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "b", Port: 81}}}}
			},
			func() client.Object {
				return &corev1.Service{ObjectMeta: meta("target"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
					{Port: 81, Protocol: corev1.ProtocolTCP, AppProtocol: new("http")},
				}}}
			},
			func(o client.Object) (out []string) {
				for _, p := range o.(*corev1.Service).Spec.Ports {
					out = append(out, fmt.Sprint(p.Name, p.Port))
					if p.AppProtocol != nil {
						out = append(out, "ours")
					}
				}
				return out
			}, "ours",
		},
		"an additional container": {
			func() client.Object { return deployment("target") },
			func() client.Object {
				u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "target"}, "spec": map[string]any{
					"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "ours", "image": "sidecar"}}}},
				}}}
				u.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
				return u
			},
			func(o client.Object) (out []string) {
				for _, c := range o.(*appsv1.Deployment).Spec.Template.Spec.Containers {
					out = append(out, c.Name)
				}
				return out
			}, "ours",
		},
	}
	for what, item := range items {
		It("is applied, repaired and released, and changes no other item: "+what, func() {
			w := newWorld()
			target := w.theirs(item.target())
			before := item.has(target)
			w.syncedObject(item.target())
			w.syncedObject(item.part())
			has := func() []string {
				GinkgoHelper()
				Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(target), target)).To(Succeed())
				return item.has(target)
			}
			plan := func() apply.Plan {
				var p apply.Plan
				p.Contribute(item.part())
				return p
			}
			w.converge(plan)
			w.quiet(2, plan)
			Expect(has()).To(ConsistOf(append(before, item.own)))
			w.restart()
			w.syncedObject(item.part())
			w.quiet(2, plan)
			w.converge(func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} })
			Expect(has()).To(Equal(before))
			Expect(w.stored().Finalizers).To(BeEmpty())
		})
	}
})
