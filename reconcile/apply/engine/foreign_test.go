package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// partialView is a cached client that hides some objects, like a cache with
// a selector, or returns old versions, like a lagging cache.
type partialView struct {
	client.Client

	mu     sync.Mutex
	hidden map[string]bool
	frozen map[string]client.Object
}

func (v *partialView) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	v.mu.Lock()
	hidden, frozen := v.hidden[key.Name], v.frozen[key.Name]
	v.mu.Unlock()
	if hidden {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "hidden"}, key.Name)
	}
	if frozen != nil {
		return scheme.Convert(frozen, into, nil)
	}
	return v.Client.Get(ctx, key, into, opts...)
}

func (v *partialView) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := v.Client.List(ctx, list, opts...); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	items, err := apimeta.ExtractList(list)
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(o runtime.Object) bool {
		m, err := apimeta.Accessor(o)
		return err == nil && v.hidden[m.GetName()]
	})
	return apimeta.SetList(list, items)
}

func (v *partialView) hide(name string, hidden bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hidden[name] = hidden
}

func (v *partialView) freeze(name string, as client.Object) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frozen[name] = as
}

// throughPartialView restarts the engine with a partial view.
func (w *world) throughPartialView() *partialView {
	GinkgoHelper()
	v := &partialView{Client: w.client, hidden: map[string]bool{}, frozen: map[string]client.Object{}}
	live, err := client.New(w.cacheless, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	w.engine, err = engine.New(v, live, w.options)
	Expect(err).NotTo(HaveOccurred())
	return v
}

// theirs creates an object of a user.
func (w *world) theirs(o client.Object) client.Object {
	GinkgoHelper()
	o.SetNamespace(w.namespace)
	Expect(w.admin.Create(w.ctx, o, client.FieldOwner("user"))).To(Succeed())
	return o
}

// untouched expects that the object is unchanged.
func (w *world) untouched(o client.Object) {
	GinkgoHelper()
	now := o.DeepCopyObject().(client.Object)
	Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), now)).To(Succeed())
	Expect(now.GetUID()).To(Equal(o.GetUID()))
	Expect(now.GetResourceVersion()).To(Equal(o.GetResourceVersion()), "%v", now)
}

func ownedByAnother(result apply.Result) bool {
	var owned *apply.OwnedByAnotherError
	return errors.As(result.Err(), &owned)
}

var _ = Describe("An object that is not in the cache", func() {
	foreign := map[string]func() client.Object{
		"ConfigMap": func() client.Object { return configMap("w", "theirs") },
		"Secret": func() client.Object {
			return &corev1.Secret{ObjectMeta: meta("w"), StringData: map[string]string{"value": "theirs"}}
		},
		"ServiceAccount": func() client.Object { return &corev1.ServiceAccount{ObjectMeta: meta("w")} },
		"Service":        func() client.Object { return &corev1.Service{ObjectMeta: meta("w"), Spec: servicePort()} },
		"Deployment":     func() client.Object { return deployment("w") },
		"Role":           func() client.Object { return &rbacv1.Role{ObjectMeta: meta("w")} },
		"Widget":         func() client.Object { return &widget.Widget{ObjectMeta: meta("w")} },
		"Pod": func() client.Object {
			return &corev1.Pod{ObjectMeta: meta("w"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		},
	}
	plans := map[string]func(func() client.Object) apply.Plan{
		"owned":       func(o func() client.Object) (p apply.Plan) { p.Apply(o()); return p },
		"recreatable": func(o func() client.Object) (p apply.Plan) { p.Apply(o(), apply.Recreate()); return p },
		"forced": func(o func() client.Object) (p apply.Plan) {
			p.Apply(o(), apply.Force("data", "spec", "metadata"))
			return p
		},
		"shared": func(o func() client.Object) (p apply.Plan) { p.Apply(o(), apply.Shared); return p },
	}
	for kind, object := range foreign {
		for mode, plan := range plans {
			It(fmt.Sprintf("and is a user's %s is not adopted (%s)", kind, mode), func() {
				w := newWorld()
				v := w.throughPartialView()
				o := w.theirs(object())
				v.hide("w", true)
				mine := func() apply.Plan {
					return plan(func() client.Object {
						o := object()
						o.SetLabels(map[string]string{"app": "mine"})
						return o
					})
				}
				for range 3 {
					result, _ := w.pass(mine())
					Expect(ownedByAnother(result)).To(BeTrue(), "%v", result.Err())
				}
				w.untouched(o)
				decisions, err := w.engine.Diff(w.ctx, w.stored(), mine(), engine.DiffOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(decisions.String()).To(HavePrefix("! "), "diff says what apply does")

				By("removing it from the plan")
				w.pass(apply.Plan{Policy: apply.Withdraw})
				w.untouched(o)

				By("restarting the process")
				v = w.throughPartialView()
				v.hide("w", true)
				w.pass(mine())
				w.pass(apply.Plan{Policy: apply.Withdraw})
				w.untouched(o)
			})
		}
	}

	It("and belongs to a user does not become a child through Once, and is not pruned", func() {
		for _, hidden := range []bool{true, false} {
			w := newWorld()
			v := w.throughPartialView()
			o := w.theirs(configMap("w", "theirs"))
			v.hide("w", hidden)
			if !hidden {
				w.syncedObject(configMap("w", ""))
			}
			once := func() apply.Plan {
				var p apply.Plan
				p.Apply(configMap("w", "ours"), apply.Once)
				return p
			}
			for range 3 {
				result, _ := w.pass(once())
				Expect(result.Err()).NotTo(HaveOccurred())
			}
			for range 3 {
				w.pass(apply.Plan{Policy: apply.Withdraw})
			}
			w.untouched(o)
		}
	})

	It("and is a child is repaired and pruned", func() {
		w := newWorld()
		w.throughPartialView()
		w.converge(one(cm("1")))
		v := w.throughPartialView()
		v.hide("cm", true)
		result, _ := w.pass(one(cm("2"))())
		Expect(result.Err()).NotTo(HaveOccurred())
		stored := configMap("cm", "")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Data).To(HaveKeyWithValue("value", "2"))
		version := stored.ResourceVersion
		for range 3 {
			result, sent := w.pass(one(cm("2"))())
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(writes(sent)).To(BeEmpty())
		}
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.ResourceVersion).To(Equal(version))
	})

	It("keeps the values of other managers in seeded fields", func() {
		w := newWorld()
		seeded := func(value string) func() apply.Plan {
			return one(cm(value), apply.Seed("data.value"))
		}
		w.converge(seeded("first"))
		w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"value":"theirs"}}`, "autoscaler")
		for name, look := range map[string]func(v *partialView){
			"hidden": func(v *partialView) { v.hide("cm", true) },
			"shown":  func(*partialView) {},
		} {
			By(name)
			v := w.throughPartialView()
			look(v)
			for _, value := range []string{"second", "third"} {
				result, _ := w.pass(seeded(value)())
				Expect(result.Err()).NotTo(HaveOccurred())
			}
			stored := configMap("cm", "")
			stored.Namespace = w.namespace
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
			Expect(stored.Data).To(HaveKeyWithValue("value", "theirs"))
		}
	})

	It("is not changed by a migration of managers if it replaced a child", func() {
		w := newWorld(func(w *world) { w.options.FormerManagers = []string{"old"} })
		v := w.throughPartialView()
		o := configMap("cm", "1")
		o.Namespace = w.namespace
		Expect(controllerutil.SetControllerReference(w.stored(), o, scheme)).To(Succeed())
		Expect(w.admin.Create(w.ctx, o, client.FieldOwner("old"))).To(Succeed())
		w.syncedObject(configMap("cm", ""))
		old := configMap("cm", "")
		Expect(w.client.Get(w.ctx, client.ObjectKeyFromObject(o), old)).To(Succeed())
		v.freeze("cm", old)
		Expect(w.admin.Delete(w.ctx, o)).To(Succeed())
		replaced := configMap("cm", "theirs")
		replaced.Namespace = w.namespace
		Expect(w.admin.Create(w.ctx, replaced, client.FieldOwner("old"))).To(Succeed())
		for range 2 {
			result, _ := w.pass(one(cm("2"))())
			Expect(result.Err()).To(HaveOccurred())
		}
		w.untouched(replaced)
	})
})

var _ = Describe("A part-of label", func() {
	var w *world
	keep := func() apply.Plan { return configMaps(1)() }
	ids := func() map[string]string {
		gk := widget.GroupVersion.WithKind("Widget").GroupKind()
		return map[string]string{applyset.PartOfLabel: applyset.ID(gk, client.ObjectKeyFromObject(w.owner))}
	}
	BeforeEach(func() {
		w = newWorld()
		w.converge(configMaps(1))
	})
	copied := func(name string, refs ...metav1.OwnerReference) *corev1.ConfigMap {
		o := configMap(name, "theirs")
		o.Labels, o.OwnerReferences = ids(), refs
		return o
	}

	DescribeTable("that another manager set does not make an object a child", func(build func() client.Object) {
		o := w.theirs(build())
		w.syncedObject(o.DeepCopyObject().(client.Object))
		for i := range 3 {
			if i == 1 {
				w.restart()
				w.syncedObject(o.DeepCopyObject().(client.Object))
			}
			result, sent := w.pass(keep())
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(result.PruneBlocked).ToNot(HaveOccurred())
			Expect(writes(sent)).To(BeEmpty())
		}
		w.untouched(o)
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		w.untouched(o)
	},
		Entry("copied by a user", func() client.Object { return copied("copy") }),
		Entry("copied with the reference to the owner", func() client.Object {
			return copied("copy", *metav1.NewControllerRef(w.stored(), widget.GroupVersion.WithKind("Widget")))
		}),
		Entry("inherited by endpoints", func() client.Object {
			//nolint:staticcheck // the kind that inherits labels
			return &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "inherits", Labels: ids()}}
		}),
	)

	It("that another manager set does not count for the guard", func() {
		w.converge(configMaps(4))
		for i := range 8 {
			w.theirs(copied(fmt.Sprintf("copy-%d", i)))
		}
		for i := range 8 {
			w.syncedObject(configMap(fmt.Sprintf("copy-%d", i), ""))
		}
		result, _ := w.pass(keep())
		Expect(result.PruneBlocked).To(HaveOccurred(), "3 of 4 children, not of 12")
		Expect(result.PruneBlocked.Objects).To(HaveLen(3))
	})

	It("that is lost together with the owner reference prevents a prune", func() {
		w.converge(configMaps(2))
		w.edit(configMap("cm-1", ""), types.MergePatchType, `{"metadata":{"ownerReferences":null}}`, "user")
		for range 2 {
			w.pass(apply.Plan{Children: configMaps(1)().Children, Policy: apply.Withdraw})
		}
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1"))
	})

	It("is restored with the owner reference while the process knows the child", func() {
		w.edit(configMap("cm-0", ""), types.MergePatchType, `{"metadata":{"ownerReferences":null,"labels":null}}`, "user")
		result, _ := w.pass(keep())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0"))

		By("restarting the process, after which the plan must adopt the object")
		w.edit(configMap("cm-0", ""), types.MergePatchType, `{"metadata":{"ownerReferences":null,"labels":null}}`, "user")
		w.restart()
		w.syncedObject(configMap("cm-0", ""))
		result, _ = w.pass(keep())
		Expect(ownedByAnother(result)).To(BeTrue())
		var adopting apply.Plan
		adopting.Apply(configMap("cm-0", "x"), apply.AdoptUncontrolled)
		result, _ = w.pass(adopting)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0"))
	})

	It("is checked in the API server if the cache strips managedFields", func() {
		w = newWorld(func(w *world) {
			w.transform = func(in any) (any, error) {
				if o, ok := in.(client.Object); ok {
					o.SetManagedFields(nil)
				}
				return in, nil
			}
		})
		w.converge(configMaps(2))
		o := w.theirs(copied("copy", *metav1.NewControllerRef(w.stored(), widget.GroupVersion.WithKind("Widget"))))
		w.syncedObject(configMap("copy", ""))
		w.restart()
		for _, name := range []string{"cm-0", "cm-1", "copy"} {
			w.syncedObject(configMap(name, ""))
		}
		Eventually(func(g Gomega) {
			result, _ := w.pass(apply.Plan{Children: configMaps(1)().Children, Policy: apply.Withdraw})
			g.Expect(result.Err()).NotTo(HaveOccurred())
			g.Expect(w.names()).To(ConsistOf("cm-0", "copy"))
		}).Should(Succeed())
		w.untouched(o)
	})
})
