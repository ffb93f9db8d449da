package controller_test

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// colours is the colours of all ConfigMaps, sorted, each once.
func colours() *reconcile.Derivation[*corev1.ConfigMap, []string] {
	return &reconcile.Derivation[*corev1.ConfigMap, []string]{
		Name: "colours", List: &corev1.ConfigMapList{},
		Each: func(object *corev1.ConfigMap) []string {
			if colour, has := object.Labels["colour"]; has {
				return []string{colour}
			}
			return nil
		},
		Merge: func(parts [][]string) []string {
			all := slices.Concat(parts...)
			slices.Sort(all)
			return slices.Compact(all)
		},
	}
}

var _ = Describe("A derived read", func() {
	It("wakes all owners that read it when the value changes, and none when only an object does", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		derivation, found := colours(), &last{}
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			read := reconcile.FetchDerived(ctx, r, derivation)
			found.set(o.Name, read.Value, read.Error)
			return world{err: read.Error}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("derived", p).Reads(&corev1.ConfigMap{}).Options(settings()).SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, newWidget(namespace, "one"))).To(Succeed())
		Expect(c.Create(ctx, newWidget(namespace, "two"))).To(Succeed())
		relabel := func(name string, labels map[string]string) func() error {
			return func() error {
				return change(ctx, c, configMap(namespace, name, nil), func(cm *corev1.ConfigMap) { cm.Labels = labels })
			}
		}
		for _, step := range []struct {
			what  string
			do    func() error
			wakes int
			value []string
		}{
			{"an object that does not matter", func() error { return c.Create(ctx, configMap(namespace, "x", nil)) }, 0, nil},
			{"a first colour", relabel("x", map[string]string{"colour": "red"}), 1, []string{"red"}},
			{"another label", relabel("x", map[string]string{"colour": "red", "a": "b"}), 0, []string{"red"}},
			{"the same colour again", func() error { return c.Create(ctx, configMap(namespace, "y", map[string]string{"colour": "red"})) }, 0, []string{"red"}},
			{"one of two goes", func() error { return c.Delete(ctx, configMap(namespace, "y", nil)) }, 0, []string{"red"}},
			{"another colour", relabel("x", map[string]string{"colour": "blue"}), 1, []string{"blue"}},
			{"the last goes", func() error { return c.Delete(ctx, configMap(namespace, "x", nil)) }, 1, nil},
		} {
			By(step.what)
			one, two := p.settled(ctx, "one"), p.settled(ctx, "two")
			Expect(step.do()).To(Succeed())
			Eventually(p.count).WithArguments("one").WithTimeout(soon).Should(Equal(one + step.wakes))
			Eventually(p.count).WithArguments("two").WithTimeout(soon).Should(Equal(two + step.wakes))
			Consistently(p.count).WithArguments("one").WithTimeout(pause).Should(Equal(one + step.wakes))
			Expect(found.names("two")).To(HaveExactElements(step.value))
			Expect(found.err("two")).NotTo(HaveOccurred())
		}
	})

	It("of an undeclared kind fails with the line to add", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		derivation := colours()
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, _ *widget.Widget) world {
			return world{err: reconcile.FetchDerived(ctx, r, derivation).Error}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("derived-undeclared", p).Options(settings()).SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring(
			`/v1/ConfigMap is not declared: add Reads(&v1.ConfigMap{}) to the builder of controller "derived-undeclared"`))
	})
})
