package controller_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

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

// atWork notes which instance has a pass of each owner, and when there are two.
type atWork struct {
	mu     sync.Mutex
	passes map[string]string
	twice  []string
	total  map[string]int // of each instance
}

func (w *atWork) begins(owner, instance string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, working := w.passes[owner]; working && other != instance {
		w.twice = append(w.twice, fmt.Sprintf("%s: %s and %s", owner, other, instance))
	}
	w.passes[owner] = instance
	w.total[instance]++
}

func (w *atWork) ends(owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.passes, owner)
}

// shardObserver tells atWork of the ends of passes.
type shardObserver struct{ *atWork }

func (shardObserver) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }
func (shardObserver) PhaseDone(context.Context, reconcile.Phase, time.Duration, error)  {}

func (o shardObserver) PassDone(_ context.Context, report reconcile.Report) {
	if !report.Gone {
		o.ends(report.Request.Name)
	}
}

// instance starts a process that works on one shard; its children say so.
func (w *atWork) instance(config *rest.Config, namespace string, shard controller.Shard) *process {
	GinkgoHelper()
	options := settings()
	options.Shard, options.Observer = &shard, shardObserver{w}
	p := &probe{
		fetch: func(_ context.Context, _ reconcile.Reader, owner *widget.Widget) world {
			w.begins(owner.Name, shard.Name)
			time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
			return world{}
		},
		plan: func(owner *widget.Widget, _ world) (plan reconcile.PlanResult) {
			child := configMap(owner.Namespace, owner.Name, nil)
			child.Data = map[string]string{"shard": shard.Name}
			plan.Apply(child)
			return plan
		},
	}
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

// end stops the process after its passes.
func (p *process) end() {
	GinkgoHelper()
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.cancel = nil
	Eventually(p.done).WithTimeout(soon).Should(Receive(BeNil()))
}

// owners is how many owners the cache of the process has.
func (p *process) owners(ctx context.Context) (int, error) {
	var all widget.WidgetList
	err := p.GetCache().List(ctx, &all)
	return len(all.Items), err
}

// children returns the shard that each child was made by.
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

var _ = Describe("Owners that are shared between instances", func() {
	It("are never worked on by two, whatever their labels become", func(ctx context.Context) {
		const owners, edits = 20, 200
		namespace, c := env.Namespace(GinkgoTB()), admin()
		w := &atWork{passes: map[string]string{}, total: map[string]int{}}
		a := w.instance(env.Config(), namespace, controller.Shard{Name: "a", Label: shardLabel})
		b := w.instance(env.Config(), namespace, controller.Shard{Name: "b", Label: shardLabel})
		want := map[string]string{}
		for i := range owners {
			o := newWidget(namespace, "w"+strconv.Itoa(i))
			want[o.Name] = []string{"a", "b"}[i%2]
			o.Labels = map[string]string{shardLabel: want[o.Name]}
			Expect(c.Create(ctx, o)).To(Succeed())
		}
		nobodys := newWidget(namespace, "nobodys")
		Expect(c.Create(ctx, nobodys)).To(Succeed())
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
		Expect(inA+inB).To(Equal(owners), "each process watches the owners of its label alone, and nobody that without one")
		w.mu.Lock()
		defer w.mu.Unlock()
		Expect(w.twice).To(BeEmpty())
		Expect(w.total).To(And(HaveKeyWithValue("a", BeNumerically(">", owners/2)), HaveKeyWithValue("b", BeNumerically(">", owners/2))))
	})

	It("wait for the instance that has claimed them, and are claimed by their hash", func(ctx context.Context) {
		if testing.Short() {
			Skip("takes half a minute")
		}
		namespace, c := env.Namespace(GinkgoTB()), admin()
		w := &atWork{passes: map[string]string{}, total: map[string]int{}}
		claimed := newWidget(namespace, "claimed")
		claimed.Annotations = map[string]string{"shard.reconcilekit.dev/sharded": "of-a-process-that-is-away"}
		Expect(c.Create(ctx, claimed)).To(Succeed())
		of, want := controller.ShardOf(2), map[string]string{}
		for i := range 10 {
			o := newWidget(namespace, "w"+strconv.Itoa(i))
			Expect(c.Create(ctx, o)).To(Succeed())
			want[o.Name] = of(o)
		}
		w.instance(env.Config(), namespace, controller.Shard{Name: "0", Of: of})
		w.instance(env.Config(), namespace, controller.Shard{Name: "1", Count: 2})
		Eventually(func() map[string]string { return shardChildren(ctx, c, namespace) }).WithTimeout(soon).Should(Equal(want))
		Eventually(func() (string, error) { return events(ctx, c, namespace) }).WithTimeout(2 * soon).
			Should(ContainSubstring(`shard "of-a-process-that-is-away" has claimed it and does not give it back to shard`))
		Expect(change(ctx, c, claimed, func(o *widget.Widget) { o.Annotations = nil })).To(Succeed())
		want[claimed.Name] = of(claimed)
		Eventually(func() map[string]string { return shardChildren(ctx, c, namespace) }).WithTimeout(soon).Should(Equal(want))
	})

	It("are worked on by their shard alone, whatever somebody writes into the claims", func(ctx context.Context) {
		const owners, edits = 20, 100
		namespace, c := env.Namespace(GinkgoTB()), admin()
		w := &atWork{passes: map[string]string{}, total: map[string]int{}}
		of, want := controller.ShardOf(2), map[string]string{}
		create := func(name string, annotations map[string]string) *widget.Widget {
			GinkgoHelper()
			o := newWidget(namespace, name)
			o.Annotations = annotations
			Eventually(func() error { return c.Create(ctx, o) }).WithTimeout(soon).Should(Succeed())
			want[name] = of(o)
			return o
		}
		for i := range owners {
			create("w"+strconv.Itoa(i), nil)
		}
		for _, name := range []string{"0", "1"} {
			w.instance(env.Config(), namespace, controller.Shard{Name: name, Count: 2})
		}
		for range edits {
			name, claim := "w"+strconv.Itoa(rand.IntN(owners)), []string{"null", `"0"`, `"1"`}[rand.IntN(3)]
			Expect(c.Patch(ctx, newWidget(namespace, name), client.RawPatch(types.MergePatchType,
				fmt.Appendf(nil, `{"metadata":{"annotations":{"shard.reconcilekit.dev/sharded":%s}}}`, claim)))).To(Succeed())
		}

		By("an owner that comes again with the claim that was on another one of its name")
		Expect(c.Delete(ctx, newWidget(namespace, "w0"))).To(Succeed())
		again := create("w0", map[string]string{"shard.reconcilekit.dev/sharded": want["w0"]})

		claims := func() map[string]string {
			GinkgoHelper()
			var all widget.WidgetList
			Expect(c.List(ctx, &all, client.InNamespace(namespace))).To(Succeed())
			out := map[string]string{}
			for i := range all.Items {
				out[all.Items[i].Name] = all.Items[i].Annotations["shard.reconcilekit.dev/sharded"]
			}
			return out
		}
		Eventually(claims).WithTimeout(soon).Should(Equal(want))
		Eventually(func() map[string]string {
			child := configMap(namespace, again.Name, nil)
			if err := c.Get(ctx, client.ObjectKeyFromObject(child), child); err == nil && !metav1.IsControlledBy(child, again) {
				Expect(client.IgnoreNotFound(c.Delete(ctx, child))).To(Succeed()) // there is no garbage collector
			}
			return shardChildren(ctx, c, namespace)
		}).WithTimeout(soon).Should(Equal(want))
		w.mu.Lock()
		defer w.mu.Unlock()
		Expect(w.twice).To(BeEmpty())
	})

	It("need a name, a function and objects", func() {
		mgr := runs{}.manager(env.Namespace(GinkgoTB()))
		options := settings()
		for want, shard := range map[string]controller.Shard{
			"Options.Shard.Name is empty": {},
			"Options.Shard wants one of Of, a Label, and a Count of 1 to 64, got a Label of \"\" and a Count of 0":  {Name: "a"},
			"Options.Shard wants one of Of, a Label, and a Count of 1 to 64, got a Label of \"\" and a Count of -1": {Name: "a", Count: -1},
			"Options.Shard wants one of Of, a Label, and a Count of 1 to 64, got a Label of \"\" and a Count of 65": {Name: "1", Count: 65},
			"Options.Shard wants one of Of, a Label, and a Count of 1 to 64, got a Label of \"x\" and a Count of 2": {Name: "0", Count: 2, Label: "x"},
			`Options.Shard wants a Label with the value of Name, got "x" with "no value"`:                           {Name: "no value", Label: "x"},
			`Options.Shard.Name is "-1", want a number from 0 to 1, as the Count is 2, or up to 63`:                 {Name: "-1", Count: 2},
			`Options.Shard.Name is "operator-0", want a number from 0 to 1, as the Count is 2`:                      {Name: "operator-0", Count: 2},
			`Options.Shard.Name is "01", want a number from 0 to 1, as the Count is 2`:                              {Name: "01", Count: 2},
			"Options.Shard: the name is no part of an annotation":                                                   {Name: "a", Label: "x"},
		} {
			options.Shard = &shard
			Expect(controller.New("not a name", &probe{}).Options(options).Build().SetupWithManager(mgr)).To(MatchError(ContainSubstring(want)))
		}
		options.Shard = &controller.Shard{Name: "0", Count: 1}
		Expect(controller.NewSingleton("shared", shelf{}).Owns(&corev1.ConfigMap{}).Options(options).Build().SetupWithManager(mgr)).
			To(MatchError(ContainSubstring("groups have no object to claim")))
	})
})
