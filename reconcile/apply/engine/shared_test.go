package engine_test

import (
	"errors"
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var _ = Describe("A shared object", func() {
	part := func(key, value string) func() apply.Plan {
		return func() apply.Plan {
			var p apply.Plan
			p.Apply(&corev1.ConfigMap{ObjectMeta: meta("shared"), Data: map[string]string{key: value}}, apply.Shared)
			return p
		}
	}
	none := func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} }
	found := func(w *world) (*corev1.ConfigMap, bool) {
		GinkgoHelper()
		o := &corev1.ConfigMap{}
		err := w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "shared"}, o)
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		return o, err == nil
	}
	data := func(w *world) map[string]string {
		GinkgoHelper()
		o, exists := found(w)
		Expect(exists).To(BeTrue())
		Expect(o.OwnerReferences).To(BeEmpty())
		return o.Data
	}
	for _, restart := range []bool{false, true} {
		It(fmt.Sprintf("contains each owner's part and is deleted with the last owner, restart between: %t", restart), func() {
			w := newWorld()
			first, second := w.owner, w.newOwner("second")
			as := func(o *widget.Widget, plan func() apply.Plan) {
				GinkgoHelper()
				w.owner = o
				w.converge(plan)
				if restart {
					w.restart()
				}
			}
			as(first, part("hub-a", "x"))
			as(second, part("hub-b", "y"))
			Expect(data(w)).To(Equal(map[string]string{"hub-a": "x", "hub-b": "y"}))
			as(first, part("hub-a", "x2"))
			as(first, part("hub-a2", "x3"))
			Expect(data(w)).To(Equal(map[string]string{"hub-a2": "x3", "hub-b": "y"}))
			as(first, none)
			Expect(data(w)).To(Equal(map[string]string{"hub-b": "y"}))
			By("deleting the last owner")
			Expect(w.admin.Delete(w.ctx, second)).To(Succeed())
			w.owner = second
			Eventually(func(g Gomega) {
				current := &widget.Widget{}
				err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(second), current)
				if err == nil {
					g.Expect(w.engine.Apply(w.ctx, current, apply.Plan{}).Err()).NotTo(HaveOccurred())
				}
				g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
			}).Should(Succeed())
			_, exists := found(w)
			Expect(exists).To(BeFalse())
		})
	}

	It("reports the other owner's manager if two owners plan the same field", func() {
		w := newWorld()
		first, second := w.owner, w.newOwner("second")
		w.converge(part("url", "x"))
		w.owner = second
		plan := func() apply.Plan {
			p := part("url", "y")()
			p.Children[0].Object.(*corev1.ConfigMap).Data["own"] = "z"
			return p
		}
		result, _ := w.pass(plan())
		var contested *apply.ContestedError
		Expect(errors.As(result.Err(), &contested)).To(BeTrue())
		Expect(contested.Fields).To(ConsistOf(apply.ContestedField{Path: ".data.url", Manager: manager + ":" + string(first.UID)}))
		Expect(data(w)).To(Equal(map[string]string{"url": "x", "own": "z"}))
	})

	It("is deleted with the last of two owners that leave concurrently", func() {
		w := newWorld()
		first, second := w.owner, w.newOwner("second")
		w.converge(part("a", "1"))
		w.owner = second
		w.converge(part("b", "2"))
		w.meanwhile(func() {
			other, err := engine.New(w.admin, w.admin, w.options)
			Expect(err).NotTo(HaveOccurred())
			current := &widget.Widget{}
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(first), current)).To(Succeed())
			Expect(other.Apply(w.ctx, current, none()).Err()).NotTo(HaveOccurred())
		})
		w.converge(none)
		_, exists := found(w)
		Expect(exists).To(BeFalse())
	})

	It("is kept if another owner is added while the last one leaves", func() {
		w := newWorld()
		first, second := w.owner, w.newOwner("second")
		w.converge(part("a", "1"))
		w.meanwhile(func() {
			other, err := engine.New(w.admin, w.admin, w.options)
			Expect(err).NotTo(HaveOccurred())
			current := &widget.Widget{}
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(second), current)).To(Succeed())
			Expect(other.Apply(w.ctx, current, part("b", "2")()).Err()).NotTo(HaveOccurred())
		})
		w.owner = first
		w.converge(none)
		Expect(data(w)).To(Equal(map[string]string{"b": "2"}))
	})

	It("is kept unchanged or deleted if the process is killed between any two requests", func() {
		for n := 1; n <= 6; n++ {
			w := newWorld()
			first, second := w.owner, w.newOwner("second")
			w.converge(part("a", "1"))
			w.owner = second
			w.converge(part("b", "2"))
			dead := errors.New("dead")
			for _, leaving := range []*widget.Widget{first, second} {
				w.owner = leaving
				w.requests.mu.Lock()
				w.requests.fail = func(i int, _ *http.Request) error {
					if i >= n {
						return dead
					}
					return nil
				}
				w.requests.mu.Unlock()
				_, _ = w.pass(none())
				w.restart()
				w.converge(none)
			}
			_, exists := found(w)
			Expect(exists).To(BeFalse(), "dead at request %d", n)
		}
	})

	It("that another client created is not taken over", func() {
		w := newWorld()
		theirs := &corev1.ConfigMap{ObjectMeta: meta("shared"), Data: map[string]string{"theirs": "1"}}
		theirs.Namespace = w.namespace
		Expect(w.admin.Create(w.ctx, theirs)).To(Succeed())
		result, _ := w.pass(part("a", "1")())
		var owned *apply.OwnedByAnotherError
		Expect(errors.As(result.Err(), &owned)).To(BeTrue())
		w.converge(none)
		Expect(data(w)).To(Equal(map[string]string{"theirs": "1"}))
	})

	It("that is retained is kept after the deletion of its owners", func() {
		w := newWorld()
		plan := func() apply.Plan {
			var p apply.Plan
			p.Apply(configMap("shared", "1"), apply.Retained)
			return p
		}
		w.converge(plan)
		w.converge(none)
		Expect(data(w)).To(Equal(map[string]string{"value": "1"}))
		Expect(w.stored().Finalizers).To(BeEmpty())
	})
})

var _ = Describe("A child whose mode changes", func() {
	modes := map[string]func(p *apply.Plan, o client.Object){
		"Own":      func(p *apply.Plan, o client.Object) { p.Apply(o) },
		"Shared":   func(p *apply.Plan, o client.Object) { p.Apply(o, apply.Shared) },
		"Retained": func(p *apply.Plan, o client.Object) { p.Apply(o, apply.Retained) },
		"Once":     func(p *apply.Plan, o client.Object) { p.Apply(o, apply.Once) },
		"Keep":     func(p *apply.Plan, o client.Object) { p.Keep(o) },
	}
	controlled := map[string]bool{"Own": true, "Shared": false, "Retained": false}
	for from, before := range modes {
		for to, after := range modes {
			if from == to || from == "Keep" {
				continue
			}
			It(fmt.Sprintf("needs no adoption and follows the new mode: from %s to %s", from, to), func() {
				w := newWorld()
				plan := func(mode func(*apply.Plan, client.Object), value string) func() apply.Plan {
					return func() apply.Plan {
						var p apply.Plan
						mode(&p, configMap("changing", value))
						return p
					}
				}
				stored := func() *corev1.ConfigMap {
					GinkgoHelper()
					o := &corev1.ConfigMap{}
					Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "changing"}, o)).To(Succeed())
					return o
				}
				w.converge(plan(before, "1"))
				uid := stored().UID
				w.converge(plan(after, "2"))
				w.quiet(2, plan(after, "2"))
				o := stored()
				Expect(o.UID).To(Equal(uid))
				if owned, known := controlled[to]; known {
					Expect(o.Data).To(Equal(map[string]string{"value": "2"}))
					Expect(o.OwnerReferences).To(HaveLen(map[bool]int{true: 1}[owned]))
					_, labelled := o.Labels[applyset.PartOfLabel]
					Expect(labelled).To(Equal(owned))
					_, shared := o.Annotations[applyset.SharedAnnotation]
					Expect(shared).To(Equal(to != "Own"))
				}
				w.restart()
				w.converge(plan(after, "2"))
				By("removing it from the plan")
				w.converge(func() apply.Plan { return apply.Plan{Policy: apply.Withdraw} })
				err := w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "changing"}, o)
				Expect(err == nil).To(Equal(to == "Retained" || (from == "Retained" && !controlled[to] && to != "Shared")), "%v", err)
			})
		}
	}
})
