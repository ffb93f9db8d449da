package controller_test

import (
	"context"
	"strconv"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

// shardingServer is an API server with sharded lists and watches.
func shardingServer() *rest.Config {
	GinkgoHelper()
	server := &environment.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD()}, FeatureGates: []string{"ShardedListAndWatch=true"}}
	server.Setup(GinkgoTB())
	return server.Config()
}

// inShards returns the shard of each owner, and the number of owners of each shard.
func inShards(of func(client.Object) string, owners []*widget.Widget) (shards map[string]string, sizes map[string]int) {
	shards, sizes = map[string]string{}, map[string]int{}
	for _, o := range owners {
		shards[o.Name] = of(o)
		sizes[of(o)]++
	}
	return shards, sizes
}

var _ = Describe("Shards by hash", func() {
	DescribeTable("reconcile every owner, also after their number changes", func(ctx context.Context, server func() *rest.Config, selects bool) {
		if testing.Short() {
			Skip("starts five processes for 200 owners")
		}
		const owners = 200
		config := server()
		c, err := client.New(config, client.Options{Scheme: testScheme(GinkgoTB())})
		Expect(err).NotTo(HaveOccurred())
		namespace := "default"
		if !selects {
			namespace = env.Namespace(GinkgoTB())
		}
		all := make([]*widget.Widget, owners)
		inParallel(owners, func(i int) error {
			all[i] = newWidget(namespace, "w"+strconv.Itoa(i))
			return c.Create(ctx, all[i])
		})
		start := func(number, count int) *process {
			return startShard(config, namespace, controller.Shard{Name: strconv.Itoa(number), Count: count})
		}
		settle := func(count int, processes ...*process) {
			GinkgoHelper()
			want, sizes := inShards(controller.ShardOf(count), all)
			Eventually(func() map[string]string { return shardChildren(ctx, c, namespace) }).WithTimeout(2 * soon).Should(Equal(want))
			for number, p := range processes {
				watched := owners
				if selects {
					watched = sizes[strconv.Itoa(number)]
				}
				Expect(watched).To(BeNumerically(">", owners/count/2))
				Eventually(p.owners).WithArguments(ctx).WithTimeout(soon).Should(Equal(watched), "owners in the cache of shard %d of %d", number, count)
			}
		}
		zero, one := start(0, 2), start(1, 2)
		settle(2, zero, one)

		By("adding a shard by replacing one process after the other")
		zero.end()
		zero = start(0, 3)
		two := start(2, 3)
		one.end()
		one = start(1, 3)
		settle(3, zero, one, two)

		By("removing a shard, whose process then reconciles nothing")
		for _, p := range []*process{zero, one, two} {
			p.end()
		}
		zero, one = start(0, 2), start(1, 2)
		start(2, 2)
		settle(2, zero, one)

		By("replacing an owner with another one of the same name")
		Expect(c.Delete(ctx, all[0])).To(Succeed())
		all[0] = newWidget(namespace, all[0].Name)
		Eventually(func() error { return c.Create(ctx, all[0]) }).WithTimeout(soon).Should(Succeed())
		Expect(client.IgnoreNotFound(c.Delete(ctx, configMap(namespace, all[0].Name, nil)))).To(Succeed()) // no garbage collector runs
		settle(2, zero, one)
	},
		Entry("with sharded lists and watches", shardingServer, true),
		Entry("with an API server that does not support them", func() *rest.Config { return env.Config() }, false),
	)

	It("cannot read the owners of other shards, unless each process watches all owners", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		refused, whole := &last{}, &last{}
		for name, add := range map[string]*last{"part": refused, "whole": whole} {
			options := settings()
			options.Shard = &controller.Shard{Name: "0", Count: 1}
			p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
				var siblings widget.WidgetList
				err := r.List(ctx, &siblings)
				if self := r.Get(ctx, client.ObjectKeyFromObject(o), &widget.Widget{}); self != nil {
					err = self
				}
				add.set(o.Name, nil, err)
				return world{}
			}}
			b := controller.New(name, p).Options(options)
			if add == whole {
				b.Reads(&widget.Widget{})
			}
			runs{}.start(namespace, func(mgr manager.Manager) error { return b.Build().SetupWithManager(mgr) })
		}
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		Eventually(refused.err).WithArguments("w").Should(MatchError(ContainSubstring(
			`this process watches only the owners of its shard and of its selection: add Reads(&widget.Widget{}) to the builder of controller "part"`)))
		Eventually(func() bool { whole.mu.Lock(); defer whole.mu.Unlock(); _, passed := whole.errors["w"]; return passed }).Should(BeTrue())
		Expect(whole.err("w")).NotTo(HaveOccurred())
	})
})
