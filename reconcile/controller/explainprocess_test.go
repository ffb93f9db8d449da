package controller_test

import (
	"context"
	"net/http"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// explained returns a function that returns the explanation of the widget.
func explained(ctx context.Context, b *controller.Controller, w *widget.Widget) func() explain.Owner {
	return func() explain.Owner {
		GinkgoHelper()
		o, err := b.Explain(ctx, client.ObjectKeyFromObject(w))
		Expect(err).NotTo(HaveOccurred())
		return o
	}
}

var _ = Describe("An explanation by a process that does not reconcile the owner", func() {
	It("states that the process is a standby, and contains conditions and missing owners", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		candidate := func() (*controller.Controller, manager.Manager) {
			b := controller.New("candidate", &probe{}).Options(settings()).Build()
			return b, runs{leaders: true}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		}
		leads, leader := candidate()
		Eventually(leader.Elected()).WithTimeout(time.Minute).Should(BeClosed())
		waits, _ := candidate()
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(func() string { return explained(ctx, leads, w)().State() }).WithTimeout(soon).Should(Equal("Ready"))
		Eventually(func() string { return explained(ctx, waits, w)().String() }).WithTimeout(soon).Should(And(
			ContainSubstring("not reconciled by this process"), ContainSubstring("this process is on standby: ask the process that holds the lease"),
			ContainSubstring("Ready=True"), Not(ContainSubstring("since the process started")),
		))
		Expect(explained(ctx, waits, w)().State()).To(Equal(explain.ProcessStandby))
		Expect(explained(ctx, waits, newWidget(namespace, "none"))().State()).To(Equal("NotFound"))
	})

	It("names the shard", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		options := settings()
		options.Shard = &controller.Shard{Name: "a", Label: shardLabel}
		b := controller.New("shard-a", &probe{}).Options(options).Build()
		runs{}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		mine, other := newWidget(namespace, "mine"), newWidget(namespace, "other")
		mine.Labels, other.Labels = map[string]string{shardLabel: "a"}, map[string]string{shardLabel: "b"}
		Expect(c.Create(ctx, mine)).To(Succeed())
		Expect(c.Create(ctx, other)).To(Succeed())
		Eventually(func() string { return explained(ctx, b, mine)().State() }).WithTimeout(soon).Should(Equal("Ready"))
		Eventually(func() string { return explained(ctx, b, other)().String() }).WithTimeout(soon).
			Should(ContainSubstring(`this process has no such owner in its shard "a": ask the processes of the other shards`))
		Expect(explained(ctx, b, newWidget(namespace, "none"))().String()).To(ContainSubstring("ask the processes of the other shards"))
	})

	It("names the namespace that the process does not watch", func(ctx context.Context) {
		watched, other := env.Namespace(GinkgoTB()), env.Namespace(GinkgoTB())
		b := controller.New("elsewhere", &probe{}).Options(settings()).Build()
		runs{}.start(watched, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		mine, w := newWidget(watched, "mine"), newWidget(other, "w")
		Expect(admin().Create(ctx, mine)).To(Succeed())
		Expect(admin().Create(ctx, w)).To(Succeed())
		Eventually(func() string { return explained(ctx, b, mine)().State() }).WithTimeout(soon).Should(Equal("Ready"))
		Expect(explained(ctx, b, w)().String()).To(And(
			ContainSubstring("not found"), ContainSubstring("does not watch the namespace %q: check its flag -namespaces", other)))
	})

	It("names the caches that are not synced, for one owner and for the list of owners", func() {
		namespace, address := env.Namespace(GinkgoTB()), freeAddress()
		account := env.Rights(GinkgoTB(), nil) // the list of widgets is forbidden
		b := controller.New("unsynced", &probe{}).Options(settings()).Build()
		cache, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		mgr := runs{config: account.Config(), cache: cache, metrics: server.Options{BindAddress: address}}.manager(namespace)
		Expect(mgr.AddMetricsServerExtraHandler(controller.ExplainPath, controller.ExplainHandler(b))).To(Succeed())
		Expect(b.SetupWithManager(mgr)).To(Succeed())
		running, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- mgr.Start(running) }()
		DeferCleanup(func() { cancel(); Eventually(done).WithTimeout(soon).Should(Receive()) })
		for _, path := range []string{controller.ExplainPath, controller.ExplainPath + "?kind=Widget&name=w&namespace=" + namespace} {
			Eventually(func() int { status, _ := asked(address, path, ""); return status }).WithTimeout(soon).Should(Equal(http.StatusServiceUnavailable))
			Eventually(func() string { _, text := asked(address, path, ""); return text }).WithTimeout(soon).Should(And(
				ContainSubstring("the caches of test.reconcilekit.dev/v1/Widget are not synced"), ContainSubstring("forbidden"),
			))
		}
	})

	It("contains the length of the queue and a running reconciliation", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		hold := make(chan struct{})
		p := &probe{fetch: func(context.Context, reconcile.Reader, *widget.Widget) world { <-hold; return world{} }}
		b := controller.New("busy", p).Options(settings()).Build()
		runs{}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		DeferCleanup(func() { close(hold) }) // before the manager ends
		const owners = 20                    // more than there are workers
		all := make([]*widget.Widget, owners)
		for i := range all {
			all[i] = newWidget(namespace, "w"+strconv.Itoa(i))
			Expect(c.Create(ctx, all[i])).To(Succeed())
		}
		texts := func() (out []string) {
			for _, w := range all {
				out = append(out, explained(ctx, b, w)().String())
			}
			return out
		}
		Eventually(texts).WithTimeout(soon).Should(And(
			ContainElement(ContainSubstring("a pass is running since ")),
			ContainElement(MatchRegexp(`an event of the owner waits in the queue, with those of 1\d other owners`)),
		))
	})
})

var _ = Describe("An optional kind that is not installed", func() {
	It("is named in the log at the start, in the condition and in the explanation", func(ctx context.Context) {
		scheme := testScheme(GinkgoTB())
		Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
		namespace, c, log := env.Namespace(GinkgoTB()), admin(), &lines{}
		p := &probe{
			fetch: func(context.Context, reconcile.Reader, *widget.Widget) world {
				return world{err: health.NewError(health.MissingDownstreamDependency, "GadgetNotFound", "Gadget not found", nil)}
			},
			plan: planGadget,
		}
		b := controller.New("uninstalled", p).Owns(gadget(), controller.Optional).Owns(&corev1.ConfigMap{}).Options(settings()).Build()
		runs{logger: log.logger()}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).
			Should(And(ContainSubstring("Ready: False"), ContainSubstring("Gadget (example.com/v1beta1) is not installed in the cluster")))
		Expect(explained(ctx, b, w)().String()).To(And(
			ContainSubstring("because: Gadget: example.com/v1beta1/Gadget is not installed in the cluster: install its CRD (NotInstalled)"),
			ContainSubstring("WorldReady=False GadgetNotFound"), ContainSubstring("Gadget not found; Gadget (example.com/v1beta1) is not installed in the cluster"),
			ContainSubstring("optional kinds that are not installed: example.com/v1beta1/Gadget"),
		))
		Eventually(log.String).WithTimeout(soon).Should(And(ContainSubstring("optional kinds are not installed"), ContainSubstring("example.com/v1beta1/Gadget")))
	})
})
