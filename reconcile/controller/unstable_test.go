package controller_test

import (
	"context"
	"fmt"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A plan", func() {
	// run starts a controller with an owner and returns a function that returns its Ready condition.
	run := func(ctx context.Context, name string, p *probe) (string, func(Gomega) metav1.Condition) {
		GinkgoHelper()
		namespace, c := env.Namespace(GinkgoTB()), admin()
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New(name, p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		return namespace, func(g Gomega) metav1.Condition {
			w := &widget.Widget{}
			g.Expect(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "w"}, w)).To(Succeed())
			ready := meta.FindStatusCondition(w.Status.Conditions, conditions.Ready)
			g.Expect(ready).NotTo(BeNil())
			return *ready
		}
	}
	var calm atomic.Bool
	var n atomic.Int64
	BeforeEach(func() {
		calm.Store(false)
		n.Store(0)
	})
	next := func() string {
		if calm.Load() {
			return "calm"
		}
		return fmt.Sprint(n.Add(1))
	}
	plans := map[string]func(plan *reconcile.PlanResult){
		"other values": func(plan *reconcile.PlanResult) {
			cm := configMap("", "cm", nil)
			cm.Data = map[string]string{"at": next()}
			plan.Apply(cm)
		},
		"one of two alternating values": func(plan *reconcile.PlanResult) {
			cm := configMap("", "cm", nil)
			cm.Data = map[string]string{"at": "calm"}
			if !calm.Load() {
				cm.Data["at"] = fmt.Sprint(n.Add(1) % 2)
			}
			plan.Apply(cm)
		},
		"another name": func(plan *reconcile.PlanResult) { plan.Apply(configMap("", "cm-"+next(), nil)) },
		"other metadata of its owner": func(plan *reconcile.PlanResult) {
			plan.Metadata(metav1.ObjectMeta{Annotations: map[string]string{"example.com/at": next()}})
		},
	}
	number := 0
	for what, plan := range plans {
		number++
		It("with "+what+" in every reconciliation is reported and delayed until it is stable", func(ctx context.Context) {
			p := &probe{plan: func(*widget.Widget, world) (out reconcile.PlanResult) {
				plan(&out)
				return out
			}}
			name := fmt.Sprintf("unstable-%d", number)
			namespace, ready := run(ctx, name, p)
			Eventually(func(g Gomega) {
				found := ready(g)
				g.Expect(found.Status).To(Equal(metav1.ConditionFalse))
				g.Expect(found.Reason).To(Equal("ProgramError"))
				g.Expect(found.Message).To(ContainSubstring("must not depend on"))
			}).WithTimeout(soon).Should(Succeed())
			passes := p.count("w")
			Expect(passes).To(BeNumerically("<", 20))
			Consistently(p.count).WithArguments("w").WithTimeout(2 * pause).Should(BeNumerically("<=", passes+3))
			Eventually(func(g Gomega) {
				events := &eventsv1.EventList{}
				g.Expect(admin().List(ctx, events, client.InNamespace(namespace))).To(Succeed())
				g.Expect(events.Items).To(ContainElement(And(HaveField("Type", "Warning"), HaveField("Note", ContainSubstring("must not depend on")))))
			}).WithTimeout(soon).Should(Succeed())
			Eventually(metric).WithArguments("reconcilekit_errors_total", map[string]string{"controller": name, "category": "ProgramError"}).ShouldNot(BeZero())

			calm.Store(true)
			Expect(change(ctx, admin(), newWidget(namespace, "w"), func(w *widget.Widget) { w.Spec.Count++ })).To(Succeed())
			Eventually(func(g Gomega) { g.Expect(ready(g).Status).To(Equal(metav1.ConditionTrue)) }).WithTimeout(soon).Should(Succeed())
		})
	}

	It("that follows a frequently changed input is not reported", func(ctx context.Context) {
		p := &probe{
			fetch: func(ctx context.Context, r reconcile.Reader, owner *widget.Widget) world {
				got := reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: owner.Namespace, Name: "input"}, &corev1.ConfigMap{})
				if !got.OK() {
					return world{}
				}
				return world{names: []string{got.Value.Data["at"]}}
			},
			plan: func(_ *widget.Widget, w world) (out reconcile.PlanResult) {
				cm := configMap("", "cm", nil)
				cm.Data = map[string]string{"at": fmt.Sprint(w.names)}
				out.Apply(cm)
				return out
			},
		}
		namespace, ready := run(ctx, "following", p)
		input := configMap(namespace, "input", nil)
		Expect(admin().Create(ctx, input)).To(Succeed())
		c := admin()
		for i := range 150 {
			Expect(change(ctx, c, input, func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"at": fmt.Sprint(i)} })).To(Succeed())
		}
		Eventually(func(g Gomega) {
			cm := configMap(namespace, "cm", nil)
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(cm), cm)).To(Succeed())
			g.Expect(cm.Data).To(HaveKeyWithValue("at", "[149]"))
			g.Expect(ready(g).Status).To(Equal(metav1.ConditionTrue))
		}).WithTimeout(soon).Should(Succeed())
		Expect(metric("reconcilekit_errors_total", map[string]string{"controller": "following", "category": "ProgramError"})).To(BeZero())
		Expect(p.count("w")).To(BeNumerically(">", 20))
	})
})
