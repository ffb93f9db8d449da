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

var _ = Describe("The number of owners that are reconciled at a time", func() {
	const owners = 4
	kind := widget.GroupVersion.WithKind("Widget").GroupKind().String()

	It("is more than one where nobody says: each pass waits until the others run", func(ctx context.Context) {
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
			case <-ctx.Done(): // the deadline of a pass
				return world{err: ctx.Err()}
			}
		}}
		for i := range owners {
			Expect(c.Create(ctx, newWidget(namespace, "w"+strconv.Itoa(i)))).To(Succeed())
		}
		runs{}.start(namespace, controller.New("at-a-time", p).Options(settings()).Build().SetupWithManager)
		Eventually(all).WithTimeout(soon).Should(BeClosed())
	})

	// workers is the gauge of controller-runtime after the set-up with these options of the manager.
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

	DescribeTable("is what the nearest place says", func(name string, own int, told config.Controller, want int) {
		options := settings()
		options.Concurrency = own
		Eventually(workers(name, told, controller.New(name, &probe{}).Options(options).Build())).WithTimeout(soon).Should(Equal(want))
	},
		Entry("the options of the controller", "told-itself", 2, config.Controller{
			MaxConcurrentReconciles: 7, GroupKindConcurrency: map[string]int{kind: 5},
		}, 2),
		Entry("the manager, of the kind", "told-of-kind", 0, config.Controller{
			MaxConcurrentReconciles: 7, GroupKindConcurrency: map[string]int{kind: 5},
		}, 5),
		Entry("the manager, of all controllers, one included", "told-of-all", 0, config.Controller{
			MaxConcurrentReconciles: 1, GroupKindConcurrency: map[string]int{"Deployment.apps": 5},
		}, 1),
		Entry("nobody", "told-nothing", 0, config.Controller{}, 4),
	)

	It("is as for other owners for groups", func() {
		groups := controller.NewGroup("together", sums{}).Owns(&corev1.ConfigMap{}).Options(settings()).
			Members(&widget.Widget{}, func(client.Object) []types.NamespacedName { return nil }).Build()
		Eventually(workers("together", config.Controller{}, groups)).WithTimeout(soon).Should(Equal(4))
	})

	It("is one for a singleton, whatever is said", func() {
		options := settings()
		options.Concurrency = 3
		single := controller.NewSingleton("alone", shelf{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Options(options).Build()
		Eventually(workers("alone", config.Controller{MaxConcurrentReconciles: 7}, single)).WithTimeout(soon).Should(Equal(1))
	})
})
