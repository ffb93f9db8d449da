package controller_test

import (
	"context"
	"strconv"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("The number of concurrent reconciliations", func() {
	const owners = 4
	kind := widget.GroupVersion.WithKind("Widget").GroupKind().String()

	It("is more than one by default", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		var running atomic.Int32
		all := make(chan struct{})
		p := &probe{fetch: func(ctx context.Context, _ reconcile.Reader, _ *widget.Widget) world {
			if running.Add(1) == owners {
				close(all)
			}
			select {
			case <-all:
				return world{}
			case <-ctx.Done(): // the deadline of the reconciliation
				return world{err: ctx.Err()}
			}
		}}
		for i := range owners {
			Expect(c.Create(ctx, newWidget(namespace, "w"+strconv.Itoa(i)))).To(Succeed())
		}
		runs{}.start(namespace, controller.New("at-a-time", p).Options(settings()).Build().SetupWithManager)
		Eventually(all).WithTimeout(soon).Should(BeClosed())
	})

	// workers returns the value of controller-runtime's gauge after the setup with these manager options.
	workers := func(name string, told config.Controller, declared interface{ SetupWithManager(manager.Manager) error }) func() int {
		GinkgoHelper()
		again := true
		told.SkipNameValidation = &again
		namespace := env.Namespace(GinkgoTB())
		mgr, err := manager.New(env.Config(), manager.Options{
			Scheme: testScheme(GinkgoTB()), Metrics: server.Options{BindAddress: "0"}, Controller: told,
			Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(declared.SetupWithManager(mgr)).To(Succeed())
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- mgr.Start(ctx) }()
		DeferCleanup(func() {
			cancel()
			Eventually(done).WithTimeout(soon).Should(Receive(BeNil()))
		})
		return func() int {
			return metric("controller_runtime_max_concurrent_reconciles", map[string]string{"controller": name})
		}
	}

	DescribeTable("comes from the most specific setting", func(name string, own int, told config.Controller, want int) {
		options := settings()
		options.Concurrency = own
		Eventually(workers(name, told, controller.New(name, &probe{}).Options(options).Build())).WithTimeout(soon).Should(Equal(want))
	},
		Entry("the options of the controller, before those of the manager", "concurrency-own", 2, config.Controller{
			MaxConcurrentReconciles: 7, GroupKindConcurrency: map[string]int{kind: 5},
		}, 2),
		Entry("the manager's setting for the kind", "concurrency-kind", 0, config.Controller{
			MaxConcurrentReconciles: 7, GroupKindConcurrency: map[string]int{kind: 5},
		}, 5),
		Entry("the manager's setting for all controllers, even if it is one", "concurrency-all", 0, config.Controller{
			MaxConcurrentReconciles: 1, GroupKindConcurrency: map[string]int{"Deployment.apps": 5},
		}, 1),
		Entry("the default", "concurrency-default", 0, config.Controller{}, 4),
	)

	It("has the same default for groups", func() {
		groups := controller.NewGroup("together", sums{}).Owns(&corev1.ConfigMap{}).Options(settings()).
			Members(&widget.Widget{}, func(client.Object) []types.NamespacedName { return nil }).Build()
		Eventually(workers("together", config.Controller{}, groups)).WithTimeout(soon).Should(Equal(4))
	})

	It("is one for a singleton, whatever is configured", func() {
		options := settings()
		options.Concurrency = 3
		single := controller.NewSingleton("alone", shelf{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Options(options).Build()
		Eventually(workers("alone", config.Controller{MaxConcurrentReconciles: 7}, single)).WithTimeout(soon).Should(Equal(1))
	})
})
