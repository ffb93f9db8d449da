package controller_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// plans returns a probe with the plan.
func plans(plan func(o *widget.Widget, p *reconcile.PlanResult)) *probe {
	return &probe{plan: func(o *widget.Widget, _ world) (p reconcile.PlanResult) {
		plan(o, &p)
		return p
	}}
}

var _ = Describe("An object that another controller owns", func() {
	It("is neither adopted nor deleted if a filter excludes it from the cache", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		secret := func(name string) *corev1.Secret {
			return &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "ours"}},
				StringData: map[string]string{"password": "ours"},
			}
		}
		theirs := []*corev1.Secret{}
		for _, name := range []string{"applied", "once"} {
			o := secret(name)
			o.Labels, o.StringData = nil, map[string]string{"password": "theirs"}
			Expect(c.Create(ctx, o)).To(Succeed())
			theirs = append(theirs, o)
		}
		p := plans(func(o *widget.Widget, p *reconcile.PlanResult) {
			if o.Spec.Count == 0 {
				p.Apply(secret("applied"))
				p.Apply(secret("once"), apply.Once)
			}
			p.Apply(secret("other"))
		})
		b := controller.New("foreign-filter", p).
			Owns(&corev1.Secret{}, controller.Filter(client.MatchingLabels{"app": "ours"})).
			Options(settings()).Build()
		options, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		runs{cache: options}.start(namespace, b.SetupWithManager)
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("OwnedByAnother"))
		Expect(change(ctx, c, w, func(o *widget.Widget) { o.Spec.Count = 1 })).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
		p.settled(ctx, "w")
		for _, o := range theirs {
			now := &corev1.Secret{}
			Expect(c.Get(ctx, client.ObjectKeyFromObject(o), now)).To(Succeed())
			Expect(now.ResourceVersion).To(Equal(o.ResourceVersion))
		}
	})
})

var _ = Describe("Two controllers", func() {
	configMaps := func(ctx context.Context, c client.Client, namespace string) map[string]types.UID {
		GinkgoHelper()
		var list corev1.ConfigMapList
		Expect(c.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		out := map[string]types.UID{}
		for i := range list.Items {
			out[list.Items[i].Name] = list.Items[i].UID
		}
		return out
	}

	It("with the same kind of owner reach the steady state and keep their children across restarts", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		before := map[string]types.UID{}
		for range 3 {
			var probes []*probe
			stop := started(namespace, func(mgr manager.Manager) error {
				for _, name := range []string{"first", "second"} {
					p := plans(func(_ *widget.Widget, p *reconcile.PlanResult) { p.Apply(configMap(namespace, name, nil)) })
					probes = append(probes, p)
					if err := controller.New("shares-"+name, p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr); err != nil {
						return err
					}
				}
				return nil
			})
			for _, p := range probes {
				Expect(p.settled(ctx, "w")).To(BeNumerically("<", 20))
			}
			found := configMaps(ctx, c, namespace)
			Expect(found).To(And(HaveKey("first"), HaveKey("second")))
			if len(before) > 0 {
				Expect(found).To(Equal(before))
			}
			before = found
			stop()
		}
	})

	It("with the same kind of owner must not share a field manager or a finalizer", func() {
		namespace := env.Namespace(GinkgoTB())
		runs{}.start(namespace, func(mgr manager.Manager) error {
			options := settings()
			options.Apply.FieldManager = "the-same"
			first := controller.New("claims-first", &probe{}).Options(options).Build()
			Expect(first.SetupWithManager(mgr)).To(Succeed())
			Expect(controller.New("claims-second", &probe{}).Options(options).Build().SetupWithManager(mgr)).To(MatchError(
				And(ContainSubstring(`"the-same"`), ContainSubstring(`"claims-first"`), ContainSubstring("Widget"))))
			options.Apply.FieldManager, options.Apply.Finalizer = "another", "reconcilekit.dev/the-same"
			Expect(controller.New("claims-third", &probe{}).Options(options).Build().SetupWithManager(mgr)).To(MatchError(
				ContainSubstring("Finalizer")))
			return nil
		})
	})

	It("of which one owns the other's owner kind reach the steady state and keep the finalizers", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		const depth = 3
		role := func(o *widget.Widget) *rbacv1.ClusterRole {
			return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + o.Name}}
		}
		p := plans(func(o *widget.Widget, p *reconcile.PlanResult) {
			p.Apply(role(o)) // is cluster-scoped, so that the owner gets a finalizer
			if o.Spec.Count < depth {
				child := newWidget(o.Namespace, o.Name+"-x")
				child.Spec.Count = o.Spec.Count + 1
				p.Apply(child)
			}
		})
		b := controller.New("recursive", p).Owns(&widget.Widget{}).Owns(&rbacv1.ClusterRole{}).Options(settings()).Build()
		options, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		runs{cache: options}.start(namespace, b.SetupWithManager)
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(func() error {
			return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "w-x-x-x"}, &widget.Widget{})
		}).WithTimeout(soon).Should(Succeed())
		for _, name := range []string{"w", "w-x", "w-x-x", "w-x-x-x"} {
			Expect(p.settled(ctx, name)).To(BeNumerically("<", 30), name)
		}
		versions := func() map[string]string {
			out := map[string]string{}
			var list widget.WidgetList
			Expect(c.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
			for i := range list.Items {
				o := &list.Items[i]
				Expect(o.Finalizers).To(HaveLen(1), o.Name)
				out[o.Name] = o.ResourceVersion
			}
			return out
		}
		rest := versions()
		Expect(rest).To(HaveLen(depth + 1))
		Consistently(versions).WithTimeout(2 * time.Second).Should(Equal(rest))
	})
})

// started is like start and returns the function that stops the manager.
func started(namespace string, add func(mgr manager.Manager) error) (stop func()) {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	mgr := runs{}.manager(namespace)
	Expect(add(mgr)).To(Succeed())
	go func() { done <- mgr.Start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		Eventually(done).WithTimeout(soon).Should(Receive(BeNil()))
	}
	DeferCleanup(stop)
	return stop
}
