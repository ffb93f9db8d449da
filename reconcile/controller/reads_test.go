package controller_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A read", func() {
	var (
		namespace string
		c         client.Client
	)
	BeforeEach(func() {
		namespace, c = env.Namespace(GinkgoTB()), admin()
	})

	// step changes objects. wakes is the number of reconciliations that the change triggers.
	type step struct {
		what  string
		do    func(ctx context.Context) error
		wakes int
	}
	follow := func(ctx context.Context, p *probe, steps []step) {
		GinkgoHelper()
		for _, s := range steps {
			before := p.settled(ctx, "w")
			Expect(s.do(ctx)).To(Succeed(), s.what)
			Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(Equal(before+s.wakes), s.what)
			Consistently(p.count).WithArguments("w").WithTimeout(pause).Should(Equal(before+s.wakes), s.what)
		}
	}
	relabel := func(name string, labels map[string]string) func(context.Context) error {
		return func(ctx context.Context) error {
			return change(ctx, c, configMap(namespace, name, nil), func(cm *corev1.ConfigMap) { cm.Labels = labels })
		}
	}
	create := func(name string, labels map[string]string) func(context.Context) error {
		return func(ctx context.Context) error { return c.Create(ctx, configMap(namespace, name, labels)) }
	}
	remove := func(name string) func(context.Context) error {
		return func(ctx context.Context) error { return c.Delete(ctx, configMap(namespace, name, nil)) }
	}

	It("by name enqueues the owner once for each change, also if the object did not exist", func(ctx context.Context) {
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			err := r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: "ref"}, &corev1.ConfigMap{})
			return world{err: client.IgnoreNotFound(err)}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("by-name", p).Reads(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		follow(ctx, p, []step{
			{"create another", create("other", nil), 0},
			{"create", create("ref", nil), 1},
			{"change", relabel("ref", map[string]string{"a": "b"}), 1},
			{"delete", remove("ref"), 1},
			{"create again", create("ref", nil), 1},
		})
	})

	It("by selector enqueues the owner once when an object enters, changes within or leaves the selection", func(ctx context.Context) {
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			return world{err: r.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(o.Namespace),
				client.MatchingLabels{"app": o.Name})}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("by-selector", p).Reads(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		follow(ctx, p, []step{
			{"create outside", create("x", map[string]string{"app": "other"}), 0},
			{"relabel outside", relabel("x", map[string]string{"app": "another"}), 0},
			{"enter", relabel("x", map[string]string{"app": "w"}), 1},
			{"change within", relabel("x", map[string]string{"app": "w", "tier": "1"}), 1},
			{"leave", relabel("x", nil), 1},
			{"change outside", relabel("x", map[string]string{"tier": "2"}), 0},
			{"create within", create("y", map[string]string{"app": "w"}), 1},
			{"delete within", remove("y"), 1},
		})
	})

	It("of the owner enqueues it for changes of spec, metadata and other writers' status, but not for the controller's own status write", func(ctx context.Context) {
		p := &probe{}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("own-status", p).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Expect(p.settled(ctx, "w")).To(Equal(1), "the first pass writes the status, and no other follows")
		edit := func(do func(w *widget.Widget)) func(context.Context) error {
			return func(ctx context.Context) error { return change(ctx, c, w, do) }
		}
		follow(ctx, p, []step{
			{"spec", edit(func(w *widget.Widget) { w.Spec.Count = 3 }), 1},
			{"annotation", edit(func(w *widget.Widget) { w.Annotations = map[string]string{"a": "b"} }), 1},
			{"label", edit(func(w *widget.Widget) { w.Labels = map[string]string{"a": "b"} }), 1},
			{"status of another writer", func(ctx context.Context) error {
				if err := c.Get(ctx, client.ObjectKeyFromObject(w), w); err != nil {
					return err
				}
				w.Status.Count = 7
				return c.Status().Update(ctx, w)
			}, 1},
		})
	})

	It("of an undeclared kind fails, and the error names the missing declaration", func(ctx context.Context) {
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			err := r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: "s"}, &corev1.Secret{})
			return world{err: err}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("undeclared", p).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring(
			`/v1/Secret is not declared: add Reads(&v1.Secret{}) to the builder of controller "undeclared"`))
	})

	It("in another representation is served from the declared informer", func(ctx context.Context) {
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			return world{err: readAs(ctx, r, o.Namespace)}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("representations", p).
				Reads(&corev1.ConfigMap{}).
				Reads(controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret"))).
				Options(settings()).Build().
				SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, configMap(namespace, "b", map[string]string{"app": "x"}))).To(Succeed())
		Expect(c.Create(ctx, configMap(namespace, "a", map[string]string{"app": "x"}))).To(Succeed())
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
	})

	It("of content from a metadata-only cache fails, and the error names the declaration to change", func(ctx context.Context) {
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			return world{err: r.List(ctx, &corev1.SecretList{}, client.InNamespace(o.Namespace))}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("metadata", p).
				Reads(controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret"))).
				Options(settings()).Build().
				SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(
			MatchRegexp(`only the metadata of the kind is cached: change Reads at \S+reads_test.go:\d+ to &v1.Secret{}`))
	})
})

// readAs reads ConfigMaps in each representation, and the metadata of a missing Secret.
func readAs(ctx context.Context, r reconcile.Reader, namespace string) error {
	gvk := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	key := client.ObjectKey{Namespace: namespace, Name: "a"}
	generic := gadget()
	generic.SetGroupVersionKind(gvk)
	metadata := controller.Metadata(gvk)
	for _, into := range []client.Object{&corev1.ConfigMap{}, generic, metadata} {
		if err := r.Get(ctx, key, into); err != nil {
			return fmt.Errorf("get %T: %w", into, err)
		}
		if into.GetLabels()["app"] != "x" {
			return fmt.Errorf("%T has labels %v", into, into.GetLabels())
		}
	}
	typed, generics, metadatas := &corev1.ConfigMapList{}, genericList("v1", "ConfigMapList"), metadataList("v1", "ConfigMapList")
	for _, into := range []client.ObjectList{typed, generics, metadatas} {
		if err := r.List(ctx, into, client.InNamespace(namespace), client.MatchingLabels{"app": "x"}); err != nil {
			return fmt.Errorf("list %T: %w", into, err)
		}
		var names []string
		if err := meta.EachListItem(into, func(o objectOf) error {
			names = append(names, o.(client.Object).GetName())
			return nil
		}); err != nil {
			return err
		}
		if got := strings.Join(names, ","); got != "a,b" {
			return fmt.Errorf("%T has items %q, want them sorted: a,b", into, got)
		}
	}
	secret := controller.Metadata(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "s"}, secret); !apierrors.IsNotFound(err) {
		return fmt.Errorf("the metadata of a missing Secret: error %w", err)
	}
	return nil
}

// readyMessage returns the conditions of a widget as text.
func readyMessage(ctx context.Context, c client.Client, w *widget.Widget) string {
	if err := c.Get(ctx, client.ObjectKeyFromObject(w), w); err != nil {
		return err.Error()
	}
	var all []string
	for _, condition := range w.Status.Conditions {
		all = append(all, fmt.Sprintf("%s: %s %s: %s", condition.Type, condition.Status, condition.Reason, condition.Message))
	}
	return strings.Join(all, "\n")
}
