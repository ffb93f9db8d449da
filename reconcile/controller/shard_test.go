package controller_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

const shardLabel = "example.com/shard"

// startShard starts a process of a shard. Its children name the shard.
func startShard(config *rest.Config, namespace string, shard controller.Shard) *process {
	GinkgoHelper()
	options := settings()
	options.Shard = &shard
	p := planning(func(owner *widget.Widget) (plan reconcile.PlanResult) {
		child := configMap(owner.Namespace, owner.Name, nil)
		child.Data = map[string]string{"shard": shard.Name}
		plan.Apply(child)
		return plan
	})
	b := controller.New("sharded", p).Owns(&corev1.ConfigMap{}).Options(options).Build()
	caches, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
	Expect(err).NotTo(HaveOccurred())
	started := &process{Manager: runs{config: config, cache: caches}.manager(namespace), done: make(chan error, 1)}
	Expect(b.SetupWithManager(started)).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background())
	started.cancel = cancel
	go func() { started.done <- started.Start(ctx) }()
	DeferCleanup(started.end)
	return started
}

// process is a manager that ends once.
type process struct {
	manager.Manager

	cancel context.CancelFunc
	done   chan error
}

// end stops the process after its reconciliations.
func (p *process) end() {
	GinkgoHelper()
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.cancel = nil
	Eventually(p.done).WithTimeout(soon).Should(Receive(BeNil()))
}

// owners returns the number of owners in the cache of the process.
func (p *process) owners(ctx context.Context) (int, error) {
	var all widget.WidgetList
	err := p.GetCache().List(ctx, &all)
	return len(all.Items), err
}

// shardChildren returns the shard that wrote each child.
func shardChildren(ctx context.Context, c client.Client, namespace string) map[string]string {
	GinkgoHelper()
	var all corev1.ConfigMapList
	Expect(c.List(ctx, &all, client.InNamespace(namespace))).To(Succeed())
	out := map[string]string{}
	for _, child := range all.Items {
		if metav1.GetControllerOf(&child) != nil {
			out[child.Name] = child.Data["shard"]
		}
	}
	return out
}

var _ = Describe("Shards by label", func() {
	It("reconcile the owners with their label, follow a change of the label, and ignore owners without it", func(ctx context.Context) {
		const owners, edits = 20, 200
		namespace, c := env.Namespace(GinkgoTB()), admin()
		a := startShard(env.Config(), namespace, controller.Shard{Name: "a", Label: shardLabel})
		b := startShard(env.Config(), namespace, controller.Shard{Name: "b", Label: shardLabel})
		want := map[string]string{}
		for i := range owners {
			o := newWidget(namespace, "w"+strconv.Itoa(i))
			want[o.Name] = []string{"a", "b"}[i%2]
			o.Labels = map[string]string{shardLabel: want[o.Name]}
			Expect(c.Create(ctx, o)).To(Succeed())
		}
		Expect(c.Create(ctx, newWidget(namespace, "unlabelled"))).To(Succeed())
		for range edits {
			name, shard := "w"+strconv.Itoa(rand.IntN(owners)), []string{"a", "b"}[rand.IntN(2)]
			want[name] = shard
			Expect(c.Patch(ctx, newWidget(namespace, name), client.RawPatch(types.MergePatchType,
				fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, shardLabel, shard)))).To(Succeed())
		}
		Eventually(func() map[string]string { return shardChildren(ctx, c, namespace) }).WithTimeout(soon).Should(Equal(want))
		inA, err := a.owners(ctx)
		Expect(err).NotTo(HaveOccurred())
		inB, err := b.owners(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(inA+inB).To(Equal(owners), "each process watches only the owners with its label")
	})
})

var _ = Describe("Shards", func() {
	It("must have a name, and either a count or a label", func() {
		mgr := runs{}.manager(env.Namespace(GinkgoTB()))
		options := settings()
		for want, shard := range map[string]controller.Shard{
			"Options.Shard.Name is empty": {},
			"Options.Shard wants either a Label or a Count of 1 to 64, got a Label of \"\" and a Count of 0":  {Name: "a"},
			"Options.Shard wants either a Label or a Count of 1 to 64, got a Label of \"\" and a Count of -1": {Name: "a", Count: -1},
			"Options.Shard wants either a Label or a Count of 1 to 64, got a Label of \"\" and a Count of 65": {Name: "1", Count: 65},
			"Options.Shard wants either a Label or a Count of 1 to 64, got a Label of \"x\" and a Count of 2": {Name: "0", Count: 2, Label: "x"},
			`Options.Shard wants a Label with the value of Name, got "x" with "no value"`:                     {Name: "no value", Label: "x"},
			`Options.Shard.Name is "-1", want a number from 0 to 1, as the Count is 2, or up to 63`:           {Name: "-1", Count: 2},
			`Options.Shard.Name is "operator-0", want a number from 0 to 1, as the Count is 2`:                {Name: "operator-0", Count: 2},
			`Options.Shard.Name is "01", want a number from 0 to 1, as the Count is 2`:                        {Name: "01", Count: 2},
		} {
			options.Shard = &shard
			Expect(controller.New("sharded", &probe{}).Options(options).Build().SetupWithManager(mgr)).To(MatchError(ContainSubstring(want)))
		}
		options.Shard = &controller.Shard{Name: "0", Count: 1}
		Expect(controller.NewSingleton("shared", shelf{}).Owns(&corev1.ConfigMap{}).Options(options).Build().SetupWithManager(mgr)).
			To(MatchError(ContainSubstring("groups are not objects that a shard can select")))
	})
})
