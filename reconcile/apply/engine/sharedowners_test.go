package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// controller is another controller in the same namespace, with its own cache and field manager.
func (w *world) controller(name string, owner *widget.Widget) *world {
	GinkgoHelper()
	o := &world{
		ctx: w.ctx, namespace: w.namespace, admin: w.admin, owner: owner, clock: w.clock, transform: w.transform, options: w.options,
	}
	o.options.FieldManager = name
	if w.transform != nil {
		o.transform = apply.ShortenManagedFields(name)
	}
	o.start()
	DeferCleanup(func() { o.stop() })
	return o
}

var _ = Describe("A shared object of owners of several kinds", func() {
	secret := func(key string) func() apply.Plan {
		return func() apply.Plan {
			var p apply.Plan
			p.Apply(&corev1.Secret{ObjectMeta: meta("shared"), Data: map[string][]byte{key: []byte(key)}}, apply.Shared)
			return p
		}
	}
	none := func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} }
	keys := func(w *world) []string {
		GinkgoHelper()
		o := &corev1.Secret{}
		if err := w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "shared"}, o); apierrors.IsNotFound(err) {
			return []string{"gone"}
		}
		return slices.Sorted(maps.Keys(o.Data))
	}

	for _, restart := range []bool{false, true} {
		It(fmt.Sprintf("contains the parts of two controllers and is deleted with the last, restart and shortened caches: %t", restart), func() {
			w := newWorld(func(w *world) {
				if restart {
					w.transform = apply.ShortenManagedFields(manager)
				}
			})
			other := w.controller("other", w.newOwner("second"))
			third := w.controller("third", w.owner) // for the owner of the first one
			for _, c := range []struct {
				w   *world
				key string
			}{{w, "a"}, {other, "b"}, {third, "c"}} {
				c.w.converge(secret(c.key))
			}
			Expect(keys(w)).To(Equal([]string{"a", "b", "c"}))
			for _, leaving := range []*world{w, third, other} {
				for _, each := range []*world{w, other, third} {
					if restart {
						each.restart()
					}
				}
				leaving.converge(none)
			}
			Expect(keys(w)).To(Equal([]string{"gone"}))
		})
	}

	It("keeps the part of a suspended owner while the first owner is deleted", func() {
		w := newWorld()
		first, second := w.owner, w.newOwner("second")
		w.converge(secret("a"))
		w.owner = second
		w.converge(secret("b"))
		w.converge(func() apply.Plan { return apply.Plan{Policy: apply.Suspend, Hold: true} })
		w.owner = first
		Expect(w.admin.Delete(w.ctx, first)).To(Succeed())
		result, _ := w.pass(apply.Plan{})
		Expect(result.Finalized).To(BeTrue(), "%v", result.Err())
		Expect(keys(w)).To(Equal([]string{"b"}))
		w.owner = second
		w.restart()
		w.quiet(1, func() apply.Plan { return apply.Plan{Policy: apply.Suspend, Hold: true} })
		w.converge(secret("b"))
		w.converge(none)
		Expect(keys(w)).To(Equal([]string{"gone"}))
	})

	for _, restart := range []bool{false, true} {
		It(fmt.Sprintf("contains the parts of two groups and of an owner, restart between: %t", restart), func() {
			w := newWorld()
			long := strings.Repeat("n", 120) // too long for the name of a field manager
			pass := func(name string, plan apply.Plan) {
				GinkgoHelper()
				for range 3 {
					c := w.crew()
					c.SetUID(types.UID("group:" + name))
					c.SetName(name)
					c.kinds = append(c.kinds, corev1.SchemeGroupVersion.WithKind("Secret"))
					Expect(w.engine.Apply(w.ctx, c, plan).Err()).NotTo(HaveOccurred())
				}
				w.synced(secret("a"))
				if restart {
					w.restart()
					w.synced(secret("a"))
				}
			}
			pass("one", secret("a")())
			pass(long, secret("b")())
			w.converge(secret("c"))
			Expect(keys(w)).To(Equal([]string{"a", "b", "c"}))
			stored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "shared", Namespace: w.namespace}}
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
			Expect(groupkey.Values(stored)).To(ConsistOf("crew/"+w.namespace+"/one", "crew/"+w.namespace+"/"+long))
			pass("one", none())
			Expect(keys(w)).To(Equal([]string{"b", "c"}))
			w.converge(none)
			Expect(keys(w)).To(Equal([]string{"b"}))
			for range 2 {
				c := w.crew()
				c.SetUID(types.UID("group:" + long))
				c.SetName(long)
				c.kinds = append(c.kinds, corev1.SchemeGroupVersion.WithKind("Secret"))
				Expect(w.engine.Apply(w.ctx, c, none()).Err()).NotTo(HaveOccurred())
			}
			Expect(keys(w)).To(Equal([]string{"gone"}))
		})
	}

	It("with data is kept if an input is temporarily empty", func() {
		w := newWorld()
		volume := func() apply.Plan {
			var p apply.Plan
			p.Apply(claim("shared"), apply.Shared)
			return p
		}
		w.converge(volume)
		for i := range 4 {
			if i == 2 {
				w.restart()
			}
			Expect(w.held(apply.Plan{}, apply.ReasonHoldsData).Objects).To(HaveLen(1))
		}
		By("restoring the input, then withdrawing the owner")
		w.converge(volume)
		result, _ := w.pass(none())
		Expect(result.Objects).To(ConsistOf(And(HaveField("Outcome", BeEquivalentTo(apply.OutcomePruned)), HaveField("HoldsData", true))))
	})

	It("keeps parts that the plan does not contain", func() {
		w := newWorld()
		w.converge(secret("a"))
		gk := schema.GroupKind{Kind: "Secret"}
		for range 3 {
			result, _ := w.pass(apply.Plan{Policy: apply.Withdraw, Unknown: map[schema.GroupKind]error{gk: errors.New("not served")}})
			Expect(result.PruneBlocked).To(HaveOccurred())
			Expect(keys(w)).To(Equal([]string{"a"}))
			w.restart()
		}
		w.converge(none)
		Expect(keys(w)).To(Equal([]string{"gone"}))
	})

	It("causes no writes if one owner retains it and another shares it", func() {
		w := newWorld()
		retained := func() apply.Plan {
			var p apply.Plan
			p.Apply(&corev1.Secret{ObjectMeta: meta("shared"), Data: map[string][]byte{"r": []byte("r")}}, apply.Retained)
			return p
		}
		first, second := w.owner, w.newOwner("second")
		for range 3 {
			w.owner = first
			w.converge(retained)
			w.owner = second
			w.converge(secret("a"))
		}
		w.quiet(2, secret("a"))
		w.owner = first
		w.quiet(2, retained)
		Expect(keys(w)).To(Equal([]string{"a", "r"}))
		w.owner = second
		w.converge(none)
		Expect(keys(w)).To(Equal([]string{"r"}))
	})
})

var _ = Describe("A foreign object with the name of a shared one", func() {
	theirs := map[string]func(w *world) client.Object{
		"with a copy of the annotation": func(w *world) client.Object {
			o := configMap("shared", "theirs")
			o.Annotations = map[string]string{applyset.SharedAnnotation: "true"}
			return w.theirs(o)
		},
		"applied with a copy of the annotation": func(w *world) client.Object {
			o := configMap("shared", "theirs")
			o.Namespace = w.namespace
			o.Annotations = map[string]string{applyset.SharedAnnotation: "true"}
			o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			//nolint:staticcheck // as a person applies
			Expect(w.admin.Patch(w.ctx, o, client.Apply, client.FieldOwner("kubectl"))).To(Succeed())
			return o
		},
		"to which the owner contributes": func(w *world) client.Object {
			o := w.theirs(configMap("shared", "theirs"))
			w.syncedObject(configMap("shared", ""))
			w.converge(func() apply.Plan {
				var p apply.Plan
				p.Contribute(&corev1.ConfigMap{ObjectMeta: meta("shared"), Data: map[string]string{"ours": "1"}})
				return p
			})
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
			return o
		},
		"that the owner keeps": func(w *world) client.Object {
			o := w.theirs(configMap("shared", "theirs"))
			w.syncedObject(configMap("shared", ""))
			w.converge(func() apply.Plan {
				var p apply.Plan
				p.Keep(configMap("shared", ""))
				return p
			})
			return o
		},
		"that is an owner of this controller": func(w *world) client.Object {
			o := w.newOwner("shared")
			o.Status.ObservedGeneration = 1
			Expect(w.admin.Status().Update(w.ctx, o, client.FieldOwner(manager))).To(Succeed())
			return o
		},
	}
	for what, arrange := range theirs {
		for mode, options := range map[string][]apply.ChildOption{"shared": nil, "retained": {apply.Retained}} {
			It(fmt.Sprintf("is not adopted, changed or deleted: one %s, %s", what, mode), func() {
				w := newWorld()
				o := arrange(w)
				plan := func() apply.Plan {
					mine := o.DeepCopyObject().(client.Object)
					mine.SetResourceVersion("")
					mine.SetUID("")
					mine.SetManagedFields(nil)
					mine.SetLabels(map[string]string{"app": "mine"})
					var p apply.Plan
					p.Apply(mine, append([]apply.ChildOption{apply.Shared}, options...)...)
					return p
				}
				for i := range 4 {
					if i == 2 {
						w.restart()
						w.syncedObject(plan().Children[0].Object)
					}
					result, _ := w.pass(plan())
					Expect(ownedByAnother(result)).To(BeTrue(), "%v", result.Err())
				}
				w.untouched(o)
				for range 3 {
					w.pass(apply.Plan{Policy: apply.Withdraw})
				}
				now := o.DeepCopyObject().(client.Object)
				Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), now)).To(Succeed())
				Expect(now.GetUID()).To(Equal(o.GetUID()))
				Expect(now.GetDeletionTimestamp()).To(BeNil())
			})
		}
	}
})
