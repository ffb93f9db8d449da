package controller_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// colours derives the sorted colours of all ConfigMaps without duplicates.
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
	It("enqueues all owners that read it if the value changes, and none if only an object changes", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		derivation, found := colours(), &last{}
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			read := reconcile.FetchDerived(ctx, r, derivation)
			found.set(o.Name, read.Value, read.Error)
			return world{err: read.Error}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("derived", p).Reads(&corev1.ConfigMap{}, controller.Derives(derivation)).Options(settings()).Build().SetupWithManager(mgr)
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

	It("of a selection returns the value of the selected objects", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		derivation, found := colours(), &last{}
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			read := reconcile.FetchDerived(ctx, r, derivation, client.InNamespace(o.Namespace), client.MatchingLabels{"shelf": o.Name})
			found.set(o.Name, read.Value, read.Error)
			return world{err: read.Error}
		}}
		b := controller.New("derived-selection", p).Reads(&corev1.ConfigMap{}, controller.Derives(derivation)).Options(settings()).Build()
		sparsely(namespace, b)
		Expect(c.Create(ctx, newWidget(namespace, "one"))).To(Succeed())
		Expect(c.Create(ctx, newWidget(namespace, "two"))).To(Succeed())
		for _, step := range []struct {
			what     string
			do       func() error
			one, two []string
		}{
			{"an object of the first", func() error {
				return c.Create(ctx, configMap(namespace, "x", map[string]string{"shelf": "one", "colour": "red"}))
			}, []string{"red"}, nil},
			{"which comes to the second", func() error {
				return change(ctx, c, configMap(namespace, "x", nil), func(cm *corev1.ConfigMap) { cm.Labels["shelf"] = "two" })
			}, nil, []string{"red"}},
			{"another of the second", func() error {
				return c.Create(ctx, configMap(namespace, "y", map[string]string{"shelf": "two", "colour": "blue"}))
			}, nil, []string{"blue", "red"}},
			{"one that goes", func() error { return c.Delete(ctx, configMap(namespace, "x", nil)) }, nil, []string{"blue"}},
		} {
			By(step.what)
			passes := map[string]int{}
			for owner, value := range map[string][]string{"one": step.one, "two": step.two} {
				passes[owner] = p.settled(ctx, owner)
				if !slices.Equal(found.names(owner), value) {
					passes[owner]++
				}
			}
			Expect(step.do()).To(Succeed())
			Eventually(found.names).WithArguments("one").WithTimeout(soon).Should(HaveExactElements(step.one))
			Eventually(found.names).WithArguments("two").WithTimeout(soon).Should(HaveExactElements(step.two))
			Expect(found.err("two")).NotTo(HaveOccurred())
			for owner, want := range passes {
				Expect(p.settled(ctx, owner)).To(Equal(want), "passes of %s", owner)
			}
		}
	})

	It("that is not declared fails, and the error names the missing declaration", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		declared, derivation := colours(), colours()
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, _ *widget.Widget) world {
			return world{err: reconcile.FetchDerived(ctx, r, derivation).Error}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("derived-other", p).Reads(&corev1.ConfigMap{}, controller.Derives(declared)).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring(
			`add Reads(&v1.ConfigMap{}, controller.Derives(...)) to the builder of controller "derived-other"`))
	})

	It("of an undeclared kind fails, and the error names the missing declaration", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		derivation := colours()
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, _ *widget.Widget) world {
			return world{err: reconcile.FetchDerived(ctx, r, derivation).Error}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("derived-undeclared", p).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring(
			`/v1/ConfigMap is not declared: add Reads(&v1.ConfigMap{}) to the builder of controller "derived-undeclared"`))
	})
})

// TestDescribeDerived checks that the page names derived values, and that an empty declaration is an error.
func TestDescribeDerived(t *testing.T) {
	t.Parallel()
	first, second, nameless, other := colours(), colours(), colours(), colours()
	second.Name, nameless.Name, other.Name, other.List = "second", "", "other", &corev1.SecretList{}
	page, err := controller.New("page", idle{}).Reads(&corev1.ConfigMap{}, controller.Derives(first), controller.Derives(second)).Build().Describe(testScheme(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range page.Access {
		if row.GVK == "/v1/ConfigMap" && !slices.Equal(row.Derived, []string{"colours", "second"}) {
			t.Errorf("values derived from ConfigMaps: %q", row.Derived)
		}
	}
	if text := page.Markdown(); !strings.Contains(text, "| read, derive colours, derive second |") {
		t.Errorf("the page does not name the values:\n%s", text)
	}
	for want, options := range map[string][]controller.KindOption{
		`the name of a Derivation is "": want one`:                               {controller.Derives(nameless)},
		`the name of a Derivation is "colours": want one`:                        {controller.Derives(first), controller.Derives(colours())},
		`"other" is derived from *v1.SecretList, want a list of the kind`:        {controller.Derives(other)},
		`a kind that is retired is not read: take the Derivation "colours" away`: {controller.Derives(first), controller.Retired},
		`"nothing" is derived from <nil>, want a list of the kind`:               {controller.Derives(&reconcile.Derivation[*corev1.ConfigMap, int]{Name: "nothing"})},
	} {
		_, err := controller.New("page", idle{}).Owns(&corev1.ConfigMap{}, options...).Build().Describe(testScheme(t))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
