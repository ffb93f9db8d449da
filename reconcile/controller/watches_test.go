package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A watch", func() {
	It("with a mapping enqueues the owners that it returns, once even if they also read the object", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			return world{err: r.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(o.Namespace),
				client.MatchingLabels{"read": "yes"})}
		}}
		named := func(_ context.Context, object client.Object) []ctrl.Request {
			return []ctrl.Request{{NamespacedName: types.NamespacedName{
				Namespace: object.GetNamespace(), Name: object.GetAnnotations()["widget"],
			}}}
		}
		notDeleted := predicate.Funcs{DeleteFunc: func(event.DeleteEvent) bool { return false }}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("mapping", p).Watches(&corev1.ConfigMap{}, named, controller.WithPredicates(notDeleted)).
				Options(settings()).Build().SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		before := p.settled(ctx, "w")
		cm := configMap(namespace, "cm", map[string]string{"read": "yes"})
		cm.Annotations = map[string]string{"widget": "w"}
		Expect(c.Create(ctx, cm)).To(Succeed())
		Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(Equal(before + 1))
		Expect(p.settled(ctx, "w")).To(Equal(before+1), "named and read: woken once")
		cm.Labels = nil
		Expect(c.Update(ctx, cm)).To(Succeed())
		Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(Equal(before + 2))
		Expect(p.settled(ctx, "w")).To(Equal(before + 2))
		Expect(c.Delete(ctx, cm)).To(Succeed())
		Expect(p.settled(ctx, "w")).To(Equal(before+2), "the predicate drops deletions, and it is not read any more")
	})

	It("with predicates ignores the events that they reject", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			return world{err: r.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(o.Namespace))}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("when", p).
				Reads(&corev1.ConfigMap{}, controller.WithPredicates(predicate.LabelChangedPredicate{})).
				Options(settings()).Build().
				SetupWithManager(mgr)
		})
		cm := configMap(namespace, "cm", nil)
		Expect(c.Create(ctx, cm)).To(Succeed())
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		before := p.settled(ctx, "w")
		cm.Data = map[string]string{"heart": "beat"}
		Expect(c.Update(ctx, cm)).To(Succeed())
		Expect(p.settled(ctx, "w")).To(Equal(before))
		cm.Labels = map[string]string{"a": "b"}
		Expect(c.Update(ctx, cm)).To(Succeed())
		Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(Equal(before + 1))
	})

	It("by an indexed field enqueues only owners that list its value", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			list := &corev1.ConfigMapList{}
			err := r.List(ctx, list, client.InNamespace(o.Namespace), client.MatchingFields{"data.for": o.Name})
			return world{err: err}
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("field", p).
				Reads(&corev1.ConfigMap{}, controller.Index("data.for", controller.Values(func(c *corev1.ConfigMap) []string {
					return []string{c.Data["for"]}
				}))).
				Options(settings()).Build().
				SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		Expect(c.Create(ctx, newWidget(namespace, "v"))).To(Succeed())
		w, v := p.settled(ctx, "w"), p.settled(ctx, "v")
		cm := configMap(namespace, "cm", nil)
		cm.Data = map[string]string{"for": "w"}
		Expect(c.Create(ctx, cm)).To(Succeed())
		Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(Equal(w + 1))
		cm.Data["for"] = "v"
		Expect(c.Update(ctx, cm)).To(Succeed())
		Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(Equal(w+2), "it has left w's selection")
		Eventually(p.count).WithArguments("v").WithTimeout(soon).Should(Equal(v + 1))
	})

	It("appears in the log as the trigger of a reconciliation", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			err := r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: "ref"}, &corev1.ConfigMap{})
			return world{err: client.IgnoreNotFound(err)}
		}}
		wakes := &wakeLog{}
		runs{logger: wakes.logger()}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("woken", p).Reads(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		applied := func(value string, manager client.FieldOwner) {
			GinkgoHelper()
			ref := corev1ac.ConfigMap("ref", namespace).WithData(map[string]string{"a": value})
			Expect(c.Apply(ctx, ref, manager, client.ForceOwnership)).To(Succeed())
		}
		applied("b", "first")
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		p.settled(ctx, "w")
		applied("c", "somebody")
		Eventually(wakes.woken).WithTimeout(soon).Should(And(
			ContainSubstring(`"event"="update" "kind"="/v1/ConfigMap"`), ContainSubstring(`"name"="ref"`),
			ContainSubstring(`"fieldManager"="somebody"`)))
	})
})
