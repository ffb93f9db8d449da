package controller_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A child", func() {
	var (
		namespace string
		c         client.Client
	)
	BeforeEach(func() {
		namespace, c = env.Namespace(GinkgoTB()), admin()
	})
	child := func(o *widget.Widget) *corev1.ConfigMap {
		cm := configMap(o.Namespace, o.Name+"-child", nil)
		cm.Data = map[string]string{"message": o.Spec.Message}
		return cm
	}
	applied := func(ctx context.Context, name string) func() (map[string]string, error) {
		return func() (map[string]string, error) {
			cm := configMap(namespace, name, nil)
			err := c.Get(ctx, client.ObjectKeyFromObject(cm), cm)
			return cm.Data, err
		}
	}

	It("of an undeclared kind is an error that names the missing declaration, and other children are not pruned", func(ctx context.Context) {
		var refuse atomic.Bool
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			plan.Apply(child(o))
			if refuse.Load() {
				plan = reconcile.PlanResult{}
				plan.Apply(&corev1.Secret{ObjectMeta: configMap(namespace, "s", nil).ObjectMeta})
			}
			return plan
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("undeclared-child", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(applied(ctx, "w-child")).WithTimeout(soon).Should(HaveKey("message"))
		refuse.Store(true)
		Expect(change(ctx, c, w, func(w *widget.Widget) { w.Spec.Count = 1 })).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring(
			`/v1/Secret is not declared: add Owns(&v1.Secret{}) to the builder of controller "undeclared-child"`))
		Consistently(applied(ctx, "w-child")).WithTimeout(pause).Should(HaveKey("message"))
	})

	DescribeTable("that needs more than its declaration allows is an error that names a sufficient declaration", func(
		ctx context.Context, name, want string, plan func(cm *corev1.ConfigMap) reconcile.PlanResult,
	) {
		p := &probe{plan: func(o *widget.Widget, _ world) reconcile.PlanResult { return plan(child(o)) }}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New(name, p).
				Writes(&corev1.ConfigMap{}, controller.NeverDeletes).
				Options(settings()).Build().
				SetupWithManager(mgr)
		})
		theirs := configMap(namespace, "w-child", nil)
		Expect(c.Create(ctx, theirs)).To(Succeed())
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring(
			"/v1/ConfigMap is not declared: add " + want + "(&v1.ConfigMap{})"))
		before := theirs.ResourceVersion
		Expect(c.Get(ctx, client.ObjectKeyFromObject(theirs), theirs)).To(Succeed())
		Expect(theirs.ResourceVersion).To(Equal(before))
	},
		Entry("a child that the owner owns", "shares-applies", "Owns", func(cm *corev1.ConfigMap) (plan reconcile.PlanResult) {
			plan.Apply(cm)
			return plan
		}),
		Entry("a deletion", "shares-deletes", "Writes", func(cm *corev1.ConfigMap) (plan reconcile.PlanResult) {
			plan.Delete(cm)
			return plan
		}),
		Entry("a child that may be recreated", "shares-recreates", "Writes", func(cm *corev1.ConfigMap) (plan reconcile.PlanResult) {
			plan.Apply(cm, apply.Retained, apply.Recreate())
			return plan
		}),
		Entry("a shared child that is deleted with its last owner", "shares-parts", "Writes", func(cm *corev1.ConfigMap) (plan reconcile.PlanResult) {
			plan.Apply(cm, apply.Shared)
			return plan
		}),
	)

	It("that is shared and retained is applied without the permission to delete", func(ctx context.Context) {
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			plan.Apply(child(o), apply.Retained)
			return plan
		}}
		b := controller.New("shares", p).Writes(&corev1.ConfigMap{}, controller.NeverDeletes).Options(settings()).Build()
		page, err := controller.NewPage("shares", testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		rights := env.Rights(GinkgoTB(), page.Rules())
		runs{config: rights.Config()}.start(namespace, b.SetupWithManager)
		w := newWidget(namespace, "w")
		w.Spec.Message = "hello"
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(applied(ctx, "w-child")).WithTimeout(soon).Should(HaveKeyWithValue("message", "hello"))
		Expect(change(ctx, c, w, func(w *widget.Widget) { w.Spec.Message = "bye" })).To(Succeed())
		Eventually(applied(ctx, "w-child")).WithTimeout(soon).Should(HaveKeyWithValue("message", "bye"))
	})

	DescribeTable("enqueues its owner when it is changed or deleted", func(
		ctx context.Context, name string, plan func(o *widget.Widget) reconcile.PlanResult,
	) {
		p := &probe{plan: func(o *widget.Widget, _ world) reconcile.PlanResult { return plan(o) }}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New(name, p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		w.Spec.Message = "hello"
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(applied(ctx, "w-child")).WithTimeout(soon).Should(HaveKeyWithValue("message", "hello"))
		p.settled(ctx, "w")
		cm := configMap(namespace, "w-child", nil)
		Expect(c.Get(ctx, client.ObjectKeyFromObject(cm), cm)).To(Succeed())
		cm.Data["message"] = "changed"
		Expect(c.Update(ctx, cm, client.FieldOwner("somebody"))).To(Succeed())
		Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(BeNumerically(">", 0))
		before := p.settled(ctx, "w")
		Expect(c.Delete(ctx, cm)).To(Succeed())
		Eventually(applied(ctx, "w-child")).WithTimeout(soon).Should(HaveKeyWithValue("message", "hello"))
		Expect(p.settled(ctx, "w")).To(BeNumerically(">", before))
	},
		Entry("with a controller reference", "owned", func(o *widget.Widget) (plan reconcile.PlanResult) {
			plan.Apply(child(o))
			return plan
		}),
		Entry("without a controller reference", "shared", func(o *widget.Widget) (plan reconcile.PlanResult) {
			plan.Apply(child(o), apply.Shared)
			return plan
		}),
	)

	It("that belongs to another owner is not written, and its deletion enqueues the owner", func(ctx context.Context) {
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			plan.Apply(child(o))
			return plan
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("foreign", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		foreign := configMap(namespace, "w-child", nil)
		yes := true
		foreign.OwnerReferences = append(foreign.OwnerReferences, ownerReference("v1", "Pod", "p", "1234", &yes))
		Expect(c.Create(ctx, foreign)).To(Succeed())
		w := newWidget(namespace, "w")
		w.Spec.Message = "hello"
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring(`Pod`))
		Expect(c.Delete(ctx, foreign)).To(Succeed())
		Eventually(applied(ctx, "w-child")).WithTimeout(soon).Should(HaveKeyWithValue("message", "hello"))
	})
})

var _ = Describe("Many owners", func() {
	It("that read one object are each enqueued once, and leave no tracked read and no goroutine after their deletion", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		const owners = 1000
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			err := r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: "shared"}, &corev1.ConfigMap{})
			return world{err: err}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			options := settings()
			options.Concurrency = 8
			return controller.New("many", p).Reads(&corev1.ConfigMap{}).Options(options).Build().SetupWithManager(mgr)
		})
		routines := runtime.NumGoroutine()
		shared := configMap(namespace, "shared", nil)
		Expect(c.Create(ctx, shared)).To(Succeed())
		inParallel(owners, func(i int) error { return c.Create(ctx, newWidget(namespace, fmt.Sprint("w-", i))) })
		quiet := func() int {
			GinkgoHelper()
			last := -1
			Eventually(func() bool {
				before := last
				passes, woken := p.total()
				last = passes
				return woken == owners && before == last
			}).WithPolling(pause).WithTimeout(2 * soon).Should(BeTrue())
			return last
		}
		before := quiet()
		shared.Data = map[string]string{"a": "b"}
		Expect(c.Update(ctx, shared)).To(Succeed())
		Eventually(func() int { passes, _ := p.total(); return passes }).WithTimeout(soon).Should(Equal(before + owners))
		Expect(quiet()).To(Equal(before + owners))
		Expect(trackedReads("many")).To(Equal(owners))

		inParallel(owners, func(i int) error { return c.Delete(ctx, newWidget(namespace, fmt.Sprint("w-", i))) })
		Eventually(trackedReads).WithArguments("many").WithTimeout(2 * soon).Should(BeZero())
		const slack = 200 // for the manager, connections and timers: far fewer than there are owners
		Eventually(runtime.NumGoroutine).WithTimeout(soon).Should(BeNumerically("<", routines+slack), goroutines)
	})

	It("that write children and read their own objects leave no goroutine and no tracked read after their deletion", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := &probe{
			fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
				err := r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name + "-settings"}, &corev1.ConfigMap{})
				return world{err: errors.Join(client.IgnoreNotFound(err),
					r.List(ctx, &corev1.SecretList{}, client.InNamespace(o.Namespace), client.MatchingLabels{"owner": o.Name}))}
			},
			plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
				cm := configMap(o.Namespace, o.Name+"-child", nil)
				cm.Data = map[string]string{"owner": o.Name}
				plan.Apply(cm)
				plan.Apply(configMap(o.Namespace, o.Name+"-shared", map[string]string{"owner": o.Name}), apply.Shared)
				return plan
			},
		}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			options := settings()
			options.Concurrency = 8
			return controller.New("passing", p).
				Owns(&corev1.ConfigMap{}).
				Reads(&corev1.Secret{}).
				Options(options).Build().
				SetupWithManager(mgr)
		})
		pass := func(round string, owners int) {
			GinkgoHelper()
			each := func(do func(w *widget.Widget) error) {
				GinkgoHelper()
				inParallel(owners, func(i int) error { return do(newWidget(namespace, fmt.Sprint(round, "-", i))) })
			}
			each(func(w *widget.Widget) error { return c.Create(ctx, w) })
			const reads = 3 // settings, secrets and the shared object; controlled children are found by their owner reference
			Eventually(trackedReads).WithArguments("passing").WithTimeout(3 * soon).Should(Equal(reads * owners))
			each(func(w *widget.Widget) error { return c.Delete(ctx, w) })
			Eventually(trackedReads).WithArguments("passing").WithTimeout(3 * soon).Should(BeZero())
		}
		pass("first", 20) // goroutines that start only once are running now
		before := runtime.NumGoroutine()
		pass("many", 500)
		const slack = 50 // for connections and timers
		Eventually(runtime.NumGoroutine).WithTimeout(soon).Should(BeNumerically("<", before+slack), goroutines)
	})
})

// goroutines returns the running goroutines, grouped by stack, for the message of a failure.
func goroutines() string {
	var text strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&text, 1) // never fails
	return text.String()
}
