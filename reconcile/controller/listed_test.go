package controller_test

import (
	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// last records the children that the last reconciliation of each owner listed.
type last struct {
	mu     sync.Mutex
	found  map[string][]string
	errors map[string]error
}

func (l *last) set(owner string, names []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil {
		l.found, l.errors = map[string][]string{}, map[string]error{}
	}
	l.found[owner], l.errors[owner] = names, err
}

func (l *last) names(owner string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.found[owner]
}

func (l *last) err(owner string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errors[owner]
}

// listing is a probe that plans one child and records the children that it lists.
func listing() (p *probe, found *last) {
	found = &last{}
	return &probe{
		fetch: func(ctx context.Context, r reconcile.Reader, owner *widget.Widget) world {
			children := reconcile.FetchChildren[*corev1.ConfigMap](ctx, r, owner, &corev1.ConfigMapList{})
			names := []string{}
			for _, child := range children.Value {
				names = append(names, child.Name)
			}
			found.set(owner.Name, names, children.Error)
			return world{err: children.Error}
		},
		plan: func(owner *widget.Widget, _ world) (plan reconcile.PlanResult) {
			plan.Apply(configMap("", owner.Name+"-child", nil), apply.Once)
			return plan
		},
	}, found
}

var _ = Describe("The children of an owner", func() {
	It("are listed without those of other owners, and enqueue it", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p, found := listing()
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("listed", p).Owns(&corev1.ConfigMap{}, controller.Listed).Options(settings()).Build().SetupWithManager(mgr)
		})
		one, two := newWidget(namespace, "one"), newWidget(namespace, "two")
		Expect(c.Create(ctx, one)).To(Succeed())
		Expect(c.Create(ctx, two)).To(Succeed())
		Expect(c.Create(ctx, configMap(namespace, "foreign", nil))).To(Succeed())
		Eventually(func() []string { return found.names("one") }).Should(Equal([]string{"one-child"}))
		Eventually(func() []string { return found.names("two") }).Should(Equal([]string{"two-child"}))

		By("adding a child that a user created")
		yes := true
		hand := configMap(namespace, "hand", nil)
		hand.OwnerReferences = append(hand.OwnerReferences, ownerReference("test.reconcilekit.dev/v1", "Widget", "one", one.UID, &yes))
		Expect(c.Create(ctx, hand)).To(Succeed())
		Eventually(func() []string { return found.names("one") }).Should(Equal([]string{"hand", "one-child"}))
		Expect(c.Delete(ctx, hand)).To(Succeed())
		Eventually(func() []string { return found.names("one") }).Should(Equal([]string{"one-child"}))
	})

	It("cannot be listed if the kind is not declared; the error names the declaration", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p, found := listing()
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("unlisted", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, newWidget(namespace, "one"))).To(Succeed())
		Eventually(func() error { return found.err("one") }).Should(MatchError(ContainSubstring("controller.Listed")))
	})

	It("can be listed only for owned kinds", func() {
		_, err := controller.New("misplaced", &probe{}).Reads(&corev1.ConfigMap{}, controller.Listed).Build().Describe(testScheme(GinkgoTB()))
		Expect(err).To(MatchError(ContainSubstring("Listed")))
	})
})
