package engine_test

import (
	"errors"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// another returns the world of another controller of the same owner.
func (w *world) another(manager string) *world {
	GinkgoHelper()
	second := *w
	second.options.FieldManager = manager
	second.start()
	stop := second.stop
	DeferCleanup(func() { stop() })
	return &second
}

var _ = Describe("Two controllers of the same owner kind", func() {
	for name, mode := range map[string]func(*apply.Plan, client.Object){
		"applied":      func(p *apply.Plan, o client.Object) { p.Apply(o) },
		"created once": func(p *apply.Plan, o client.Object) { p.Apply(o, apply.Once) },
	} {
		It("do not change each other's children ("+name+")", func() {
			first := newWorld()
			second := first.another("another")
			plan := func(names ...string) func() apply.Plan {
				return func() apply.Plan {
					var p apply.Plan
					for _, name := range names {
						mode(&p, configMap(name, "1"))
					}
					return p
				}
			}
			first.converge(plan("a", "shared-kind"))
			second.converge(plan("b", "c"))
			first.converge(plan("a", "shared-kind"))
			Expect(first.names()).To(ConsistOf("a", "b", "c", "shared-kind"))

			By("restarting both")
			for range 2 {
				first.restart()
				second.restart()
				first.converge(plan("a", "shared-kind"))
				second.converge(plan("b", "c"))
			}
			Expect(first.names()).To(ConsistOf("a", "b", "c", "shared-kind"))
			first.quiet(2, plan("a", "shared-kind"))
			second.quiet(2, plan("b", "c"))

			By("pruning children of both")
			first.restart()
			second.restart()
			first.converge(plan("a"))
			second.converge(plan("b"))
			Expect(first.names()).To(ConsistOf("a", "b"))

			By("planning the child of the other controller")
			result, _ := second.pass(plan("b", "a")())
			if name == "applied" {
				Expect(ownedByAnother(result)).To(BeTrue(), "%v", result.Err())
			}
			second.converge(plan("b"))
			Expect(first.names()).To(ConsistOf("a", "b"))

			By("removing all children of one controller")
			none := func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} }
			first.converge(none)
			Expect(first.names()).To(ConsistOf("b"))
			second.restart()
			second.converge(plan("b"))
			second.converge(none)
			Expect(first.names()).To(BeEmpty())
		})
	}

	It("do not overwrite each other's first inventory of an owner", func() {
		first := newWorld()
		second := first.another("another")
		seen := first.stored()
		result := first.engine.Apply(first.ctx, seen.DeepCopyObject().(*widget.Widget), one(cm("1"))())
		Expect(result.Err()).NotTo(HaveOccurred())
		other := func() apply.Plan {
			var p apply.Plan
			p.Apply(&corev1.Secret{ObjectMeta: meta("other")})
			return p
		}
		second.engine.Apply(second.ctx, seen.DeepCopyObject().(*widget.Widget), other()) // with a cache without the first inventory
		second.converge(other)
		first.restart()
		second.restart()
		first.converge(one(cm("1")))
		second.converge(other)
		Expect(first.members(client.HasLabels{applyset.PartOfLabel})).To(ConsistOf("ConfigMap cm", "Secret other"))
		Expect(first.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
	})

	It("read an inventory that does not name its controller", func() {
		first := newWorld()
		first.converge(configMaps(2))
		former := first.stored()
		patch := `{"metadata":{"annotations":{"applyset.kubernetes.io/tooling":null}}}`
		first.edit(former, types.MergePatchType, patch, manager+":owner")
		patch = `{"metadata":{"annotations":{"applyset.kubernetes.io/tooling":"reconcilekit/v1"}}}`
		first.edit(former, types.MergePatchType, patch, manager)
		second := first.another("another")
		first.restart()
		second.converge(one(cm("1")))
		first.quiet(1, configMaps(2))
		first.converge(configMaps(1))
		Expect(first.names()).To(ConsistOf("cm", "cm-0"))
	})
})

var _ = Describe("An owner that is a child", func() {
	child := func() client.Object {
		return &widget.Widget{ObjectMeta: meta("child"), Spec: widget.Spec{Message: "hello"}}
	}
	It("keeps its inventory and its finalizer if its own owner applies with the same field manager", func() {
		w := newWorld()
		inner := *w
		parent := one(child)
		w.converge(parent)
		inner.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: w.namespace}}
		role := planOf(func() []client.Object {
			return []client.Object{&rbacv1.ClusterRole{ObjectMeta: meta("role-" + w.namespace)}, configMap("near", "1")}
		})
		inner.converge(role)
		tracked := func() {
			GinkgoHelper()
			o := inner.stored()
			Expect(o.Finalizers).To(HaveLen(1))
			Expect(o.Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ClusterRole.rbac.authorization.k8s.io,ConfigMap"))
		}
		tracked()
		for range 2 {
			w.syncedObject(child())
			version := inner.stored().ResourceVersion
			w.quiet(3, parent)
			inner.quiet(3, role)
			Expect(inner.stored().ResourceVersion).To(Equal(version))
			w.restart()
			inner.engine, inner.requests = w.engine, w.requests
			w.converge(parent)
			inner.quiet(3, role)
			Expect(inner.stored().ResourceVersion).To(Equal(version))
			tracked()
		}

		By("changing the plan of its owner")
		changed := one(func() client.Object {
			o := child().(*widget.Widget)
			o.Spec.Message = "changed"
			return o
		})
		w.converge(changed)
		tracked()

		By("writing its inventory with the plain field manager, like a former version")
		o := inner.stored()
		inventory := `{"metadata":{"finalizers":["x/y"],"annotations":{"applyset.kubernetes.io/contains-group-kinds":"X,ConfigMap"}}}`
		w.edit(o, types.MergePatchType, inventory, manager)
		w.converge(changed)
		Expect(inner.stored().Finalizers).To(ContainElement("x/y"))
		Expect(inner.stored().Annotations).To(HaveKey(applyset.GroupKindsAnnotation))
		Expect(inner.stored().Spec.Message).To(Equal("changed"))
		w.edit(o, types.MergePatchType, `{"metadata":{"finalizers":null}}`, "cleanup")
	})
})

var _ = Describe("A planned deletion", func() {
	var w *world
	BeforeEach(func() { w = newWorld() })
	deletion := func(o client.Object, opts ...apply.DeletionOption) apply.Plan {
		p := apply.Plan{PruneBlocked: errors.New("not now")}
		p.Delete(o, opts...)
		return p
	}
	gone := func(name string) bool {
		GinkgoHelper()
		return apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, configMap(name, "")))
	}

	It("by name deletes an object without a controller only with the option", func() {
		o := w.theirs(configMap("cm", "theirs"))
		w.syncedObject(configMap("cm", ""))
		for range 2 {
			result, sent := w.pass(deletion(configMap("cm", "")))
			Expect(ownedByAnother(result)).To(BeTrue())
			Expect(sent).To(BeEmpty())
		}
		w.untouched(o)
		result, _ := w.pass(deletion(configMap("cm", ""), apply.Uncontrolled()))
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(gone("cm")).To(BeTrue())
	})

	It("by name deletes a copy of a child only with the option", func() {
		w.converge(configMaps(1))
		o := configMap("copy", "theirs")
		o.Labels = w.labelsOf("cm-0")
		w.theirs(o)
		w.syncedObject(configMap("copy", ""))
		result, _ := w.pass(deletion(configMap("copy", "")))
		Expect(ownedByAnother(result)).To(BeTrue())
		w.untouched(o)
	})

	It("of an object with the UID that was read needs no other proof", func() {
		o := w.theirs(configMap("cm", "theirs"))
		w.syncedObject(configMap("cm", ""))
		result, _ := w.pass(deletion(o))
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(gone("cm")).To(BeTrue())
	})

	It("deletes children in the owner's namespace and elsewhere", func() {
		role := func() client.Object { return &rbacv1.ClusterRole{ObjectMeta: meta("role-" + w.namespace)} }
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("cm", "1"), role()} }))
		w.restart()
		w.syncedObject(configMap("cm", ""))
		w.syncedObject(role())
		p := deletion(configMap("cm", ""))
		p.Delete(role())
		result, _ := w.pass(p)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(gone("cm")).To(BeTrue())
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(role()), role()))).To(BeTrue())
	})

	It("of the owner works although the owner has a controller", func() {
		parent := w.newOwner("parent")
		o := w.stored()
		o.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(parent, widget.GroupVersion.WithKind("Widget"))}
		Expect(w.admin.Update(w.ctx, o)).To(Succeed())
		w.syncedObject(o)
		result, _ := w.pass(deletion(&widget.Widget{ObjectMeta: meta("owner")}))
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o))).To(BeTrue())
	})
})

// labelsOf returns the labels of a stored ConfigMap.
func (w *world) labelsOf(name string) map[string]string {
	GinkgoHelper()
	o := configMap(name, "")
	Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, o)).To(Succeed())
	return o.Labels
}

var _ = Describe("The release of a contribution", func() {
	target := func() client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target"}, Data: map[string]string{"ours": "1"}}
	}
	contribution := func() apply.Plan {
		var p apply.Plan
		p.Contribute(target())
		return p
	}
	for name, deleted := range map[string]bool{"no longer planned": false, "owner deleted": true} {
		It("succeeds eventually, whichever call fails ("+name+")", func() {
			for n := 1; ; n++ {
				Expect(n).To(BeNumerically("<", 30))
				w := newWorld()
				o := w.theirs(configMap("target", "theirs"))
				w.syncedObject(configMap("target", ""))
				w.converge(contribution)
				if deleted {
					Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
				}
				failed := false
				w.requests.fail = nil
				w.requests.take()
				calls := 0
				w.requests.fail = func(_ int, _ *http.Request) error {
					if calls++; calls == n {
						failed = true
						return errors.New("no connection")
					}
					return nil
				}
				Eventually(func() map[string]string {
					if err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), &widget.Widget{}); err == nil {
						w.pass(apply.Plan{})
					}
					Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
					return o.(*corev1.ConfigMap).Data
				}).Should(Equal(map[string]string{"value": "theirs"}))
				w.stop()
				if !failed {
					break
				}
			}
		})
		It("is repeated after a conflict with a concurrent write ("+name+")", func() {
			w := newWorld()
			o := w.theirs(configMap("target", "theirs"))
			w.syncedObject(configMap("target", ""))
			w.converge(contribution)
			if deleted {
				Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
			}
			conflicts := 0
			w.requests.answer = func(r *http.Request) *apierrors.StatusError {
				if r.Method == http.MethodPatch && conflicts < 6 && r.URL.Path == "/api/v1/namespaces/"+w.namespace+"/configmaps/target" {
					conflicts++
					return apierrors.NewConflict(corev1.Resource("configmaps"), "target", errors.New("written at the same time"))
				}
				return nil
			}
			result, _ := w.pass(apply.Plan{})
			Expect(apierrors.IsConflict(result.Err())).To(BeTrue(), "%v", result.Err())
			Expect(result.Finalized).To(BeFalse())
			Expect(w.stored().Finalizers).NotTo(BeEmpty())
			Eventually(func() map[string]string {
				if err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), &widget.Widget{}); err == nil {
					w.pass(apply.Plan{})
				}
				Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
				return o.(*corev1.ConfigMap).Data
			}).Should(Equal(map[string]string{"value": "theirs"}))
			Expect(conflicts).To(Equal(6))
		})
	}
})

var _ = Describe("An owner that is deleted with orphan propagation", func() {
	It("keeps its children in all namespaces, also if the garbage collector is faster or the process restarts", func() {
		for _, seen := range []string{"in a pass", "announced", "recorded"} {
			By(seen)
			w := newWorld()
			role := func() client.Object { return &rbacv1.ClusterRole{ObjectMeta: meta("role-" + w.namespace)} }
			plan := planOf(func() []client.Object { return []client.Object{configMap("near", "1"), role()} })
			w.converge(plan)
			orphan := metav1.DeletePropagationOrphan
			Expect(w.admin.Delete(w.ctx, w.stored(), &client.DeleteOptions{PropagationPolicy: &orphan})).To(Succeed())
			held := apply.Plan{Hold: true}
			held.Delete(configMap("near", ""))
			switch seen {
			case "announced":
				w.engine.AnnounceOwner(w.stored())
			case "recorded", "in a pass":
				result, _ := w.pass(held)
				Expect(result.Err()).NotTo(HaveOccurred())
			}

			By("removing references like the garbage collector")
			w.edit(configMap("near", ""), types.MergePatchType, `{"metadata":{"ownerReferences":null}}`, "kube-controller-manager")
			o := w.stored()
			o.Finalizers = []string{"reconcilekit.dev/" + manager}
			Expect(w.admin.Update(w.ctx, o)).To(Succeed())
			if seen == "recorded" {
				w.restart()
				w.syncedObject(configMap("near", ""))
				w.syncedObject(role())
			}
			w.pass(held)
			result, _ := w.pass(apply.Plan{})
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(result.Finalized).To(BeTrue())
			Expect(w.names()).To(ConsistOf("near"))
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(role()), role())).To(Succeed())
			Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o))).To(BeTrue())

			By("adopting the children by a new owner with the same name")
			w.owner = w.newOwner("owner")
			w.converge(plan)
			Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
			w.pass(apply.Plan{})
			Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, client.ObjectKeyFromObject(role()), role()))).To(BeTrue())
		}
	})
})
