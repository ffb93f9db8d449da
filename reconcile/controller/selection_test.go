package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// goldFilter selects the widgets of the tests.
func goldFilter() controller.KindOption {
	return controller.Filter(client.MatchingLabels{"tier": "gold"})
}

// whereGold selects the same owners with a function.
func whereGold() controller.KindOption {
	return controller.Where(func(o *widget.Widget) bool { return o.Labels["tier"] == "gold" })
}

var _ = Describe("A controller that selects its owners", func() {
	var (
		namespace, other string
		c                client.Client
		p                *probe
	)
	BeforeEach(func() {
		namespace, other, c = env.Namespace(GinkgoTB()), env.Namespace(GinkgoTB()), admin()
		p = &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			plan.Apply(configMap(o.Namespace, o.Name, nil))
			plan.Apply(configMap(other, o.Namespace+"-"+o.Name, nil), apply.Shared) // the garbage collector does not delete it
			return plan
		}}
	})
	// build returns the controller and the options of its cache.
	build := func(filtered bool, options ...controller.KindOption) (*controller.Controller, cache.Options) {
		b := controller.New("selecting", p).Owners(options...).Owns(&corev1.ConfigMap{}).Writes(&corev1.ConfigMap{}).Options(settings()).Build()
		if !filtered {
			return b, cache.Options{}
		}
		cached, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		return b, cached
	}
	// run starts the controller until stop is called.
	run := func(filtered bool, options ...controller.KindOption) (b *controller.Controller, stop func()) {
		b, cached := build(filtered, options...)
		cached.DefaultNamespaces = map[string]cache.Config{namespace: {}, other: {}}
		mgr := newManager(env.Config(), cached)
		Expect(b.SetupWithManager(mgr)).To(Succeed())
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- mgr.Start(ctx) }()
		stop = func() {
			if ctx.Err() == nil {
				cancel()
				Eventually(done).WithTimeout(soon).Should(Receive(BeNil()))
			}
		}
		DeferCleanup(stop)
		return b, stop
	}
	create := func(ctx context.Context, name, tier string) *widget.Widget {
		w := newWidget(namespace, name)
		w.Labels = map[string]string{"tier": tier}
		Expect(c.Create(ctx, w)).To(Succeed())
		return w
	}
	retier := func(ctx context.Context, w *widget.Widget, tier string) {
		Expect(change(ctx, c, w, func(o *widget.Widget) { o.Labels["tier"] = tier })).To(Succeed())
	}
	exists := func(ctx context.Context, namespace, name string) bool {
		err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &corev1.ConfigMap{})
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		return err == nil
	}
	finalizers := func(ctx context.Context, w *widget.Widget) []string {
		Expect(c.Get(ctx, client.ObjectKeyFromObject(w), w)).To(Succeed())
		return w.Finalizers
	}
	gone := func(ctx context.Context, w *widget.Widget) bool {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(w), &widget.Widget{}))
	}
	ways := []TableEntry{
		Entry("with a cache of only the selected owners", true, goldFilter()),
		Entry("with a cache of all owners", false, goldFilter()),
		Entry("with a function", true, whereGold()),
	}

	DescribeTable("reconciles them, and releases an owner that stops matching without deleting its children",
		func(ctx context.Context, filtered bool, option controller.KindOption) {
			in, out := create(ctx, "in", "gold"), create(ctx, "out", "lead")
			b, _ := run(filtered, option)
			p.settled(ctx, "in")
			Expect(exists(ctx, namespace, "in")).To(BeTrue())
			Expect(finalizers(ctx, in)).To(HaveLen(1))

			By("matching later")
			Expect(p.count("out")).To(BeZero())
			explained, err := b.Explain(ctx, client.ObjectKeyFromObject(out))
			Expect(err).NotTo(HaveOccurred())
			Expect(explained.State()).To(BeElementOf("NotSelected", "NotFound"))
			Expect(explained.String()).To(ContainSubstring("the controller reconciles objects selected by "))
			retier(ctx, out, "gold")
			p.settled(ctx, "out")
			Expect(exists(ctx, namespace, "out")).To(BeTrue())

			By("no longer matching")
			retier(ctx, in, "lead")
			Eventually(finalizers).WithArguments(ctx, in).WithTimeout(soon).Should(BeEmpty())
			passes := p.count("in")
			Expect(change(ctx, c, in, func(o *widget.Widget) { o.Spec.Message = "again" })).To(Succeed())
			Consistently(p.count).WithArguments("in").WithTimeout(pause).Should(Equal(passes))
			Expect(exists(ctx, namespace, "in")).To(BeTrue())
			Expect(exists(ctx, other, namespace+"-in")).To(BeTrue())
			Expect(c.Delete(ctx, in)).To(Succeed())
			Eventually(gone).WithArguments(ctx, in).WithTimeout(soon).Should(BeTrue())
			Expect(exists(ctx, other, namespace+"-in")).To(BeTrue())
		}, ways)

	DescribeTable("finalizes an owner that stops matching while it is being deleted",
		func(ctx context.Context, filtered bool, option controller.KindOption) {
			w := create(ctx, "w", "gold")
			run(filtered, option)
			p.settled(ctx, "w")
			pauses := func(value string) {
				Expect(change(ctx, c, w, func(o *widget.Widget) { o.Annotations = map[string]string{pipeline.DefaultPauseAnnotation: value} })).To(Succeed())
			}
			pauses("true")
			Eventually(func(g Gomega) {
				g.Expect(c.Get(ctx, client.ObjectKeyFromObject(w), w)).To(Succeed())
				g.Expect(w.Status.Conditions).To(ContainElement(HaveField("Type", "Paused")))
			}).WithTimeout(soon).Should(Succeed())
			Expect(c.Delete(ctx, w)).To(Succeed())
			retier(ctx, w, "lead")
			Consistently(finalizers).WithArguments(ctx, w).WithTimeout(pause).ShouldNot(BeEmpty())
			pauses("false")
			Eventually(gone).WithArguments(ctx, w).WithTimeout(soon).Should(BeTrue())
			Expect(exists(ctx, other, namespace+"-w")).To(BeFalse())
		}, ways)

	DescribeTable("releases an owner that stopped matching while no process was running",
		func(ctx context.Context, filtered bool, option controller.KindOption) {
			w, held := create(ctx, "w", "gold"), create(ctx, "held", "gold")
			_, stop := run(filtered, option)
			p.settled(ctx, "w")
			p.settled(ctx, "held")
			stop()
			retier(ctx, w, "lead")
			retier(ctx, held, "lead")
			Expect(c.Delete(ctx, held)).To(Succeed())
			run(filtered, option)
			Eventually(finalizers).WithArguments(ctx, w).WithTimeout(soon).Should(BeEmpty())
			Expect(exists(ctx, other, namespace+"-w")).To(BeTrue())
			Eventually(gone).WithArguments(ctx, held).WithTimeout(soon).Should(BeTrue())
			Expect(exists(ctx, other, namespace+"-held")).To(BeFalse())
		}, ways)

	It("lists only the selected owners, unless another declaration uses the kind", func() {
		alone, _ := build(true, goldFilter())
		Expect(alone.WatchesPart()).To(BeTrue())
		reading := controller.New("reading", &probe{}).Owns(&widget.Widget{}).Options(settings()).Build()
		shared, _ := build(false, goldFilter())
		_, err := controller.CacheOptions(testScheme(GinkgoTB()), shared, reading)
		Expect(err).NotTo(HaveOccurred())
		Expect(shared.WatchesPart()).To(BeFalse())
	})

	It("rejects a field selector that the cache does not have", func(ctx context.Context) {
		create(ctx, "w", "gold")
		b, _ := build(false, controller.Filter(client.MatchingFields{"spec.message": "hello"}))
		Expect(b.SetupWithManager(newManager(env.Config(), cache.Options{}))).To(MatchError(ContainSubstring(
			`controller "selecting": option Filter of Owners: only the API server evaluates spec.message: make the manager with the cache options`)))
	})

	It("selects Pods by a field that the API server evaluates", func(ctx context.Context) {
		pod := func(name, node string) *corev1.Pod {
			return &corev1.Pod{
				ObjectMeta: newWidget(namespace, name).ObjectMeta,
				Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "example.com/c"}}},
			}
		}
		seen := make(chan types.NamespacedName, 10)
		b := controller.Func("pods-of-a-node", func(_ context.Context, rc reconcile.ReconcileContext[*corev1.Pod]) (reconcile.PlanResult, error) {
			seen <- client.ObjectKeyFromObject(rc.Object)
			return reconcile.PlanResult{}, nil
		}).Owners(controller.Filter(client.MatchingFields{"spec.nodeName": "here"})).Options(settings()).Build()
		cached, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		runs{cache: cached}.start(namespace, b.SetupWithManager)
		Expect(c.Create(ctx, pod("elsewhere", "there"))).To(Succeed())
		Expect(c.Create(ctx, pod("selected", "here"))).To(Succeed())
		Eventually(seen).WithTimeout(soon).Should(Receive(Equal(types.NamespacedName{Namespace: namespace, Name: "selected"})))
		Consistently(seen).WithTimeout(pause).ShouldNot(Receive(HaveField("Name", "elsewhere")))
	})

	It("reconciles only the selected owners of a shard", func(ctx context.Context) {
		options := settings()
		options.Shard = &controller.Shard{Name: "a", Label: "shard"}
		b := controller.New("selecting", p).Owners(goldFilter()).Owns(&corev1.ConfigMap{}).Writes(&corev1.ConfigMap{}).Options(options).Build()
		cached, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		var widgets []*widget.Widget
		for name, labels := range map[string]map[string]string{
			"mine": {"tier": "gold", "shard": "a"}, "lead": {"tier": "lead", "shard": "a"}, "theirs": {"tier": "gold", "shard": "b"},
		} {
			w := newWidget(namespace, name)
			w.Labels = labels
			Expect(c.Create(ctx, w)).To(Succeed())
			widgets = append(widgets, w)
		}
		runs{cache: cached}.start("", b.SetupWithManager)
		p.settled(ctx, "mine")
		for _, w := range widgets {
			Expect(c.Get(ctx, client.ObjectKeyFromObject(w), w)).To(Succeed())
			if w.Name != "mine" {
				Expect(p.count(w.Name)).To(BeZero(), w.Name)
			}
		}
	})
})
