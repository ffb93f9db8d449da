package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A panic in an index, a mapping or a predicate", func() {
	It("does not end the process, and no decision is based on the missing result", func(ctx context.Context) {
		const name = "panicking"
		namespace, c, log, address := env.Namespace(GinkgoTB()), admin(), &lines{}, freeAddress()
		p := &probe{
			fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) (out world) {
				var list corev1.ConfigMapList
				if o.Name != "lister" {
					return out
				}
				out.err = r.List(ctx, &list, client.InNamespace(o.Namespace), client.MatchingFields{"size": "3"})
				for i := range list.Items {
					out.names = append(out.names, "of-"+list.Items[i].Name)
				}
				return out
			},
			plan: func(o *widget.Widget, w world) (plan reconcile.PlanResult) {
				for _, child := range w.names {
					plan.Apply(&corev1.Service{
						ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: child},
						Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
					})
				}
				return plan
			},
		}
		sizes := controller.Index("size", func(o client.Object) []string {
			var missing map[string]func() string
			if size := o.(*corev1.ConfigMap).Data["size"]; size != "odd" {
				return []string{size}
			}
			return []string{missing["odd"]()}
		})
		mapping := func(_ context.Context, o client.Object) []ctrl.Request {
			if o.GetName() == "trap" {
				panic("no such tenant")
			}
			return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: "plain"}}}
		}
		picky := predicate.Funcs{CreateFunc: func(e event.CreateEvent) bool {
			if e.Object.GetName() == "snare" {
				panic("no such label")
			}
			return true
		}}
		runs{logger: log.logger(), probes: address}.start(namespace, func(mgr manager.Manager) error {
			return controller.New(name, p).Owns(&corev1.Service{}).Reads(&corev1.ConfigMap{}, sizes).
				Watches(&corev1.Secret{}, mapping, controller.WithPredicates(picky)).Options(settings()).Build().SetupWithManager(mgr)
		})
		data := func(name, size string) *corev1.ConfigMap {
			out := configMap(namespace, name, nil)
			out.Data = map[string]string{"size": size}
			return out
		}
		lister, plain, later := newWidget(namespace, "lister"), newWidget(namespace, "plain"), data("later", "3")
		for _, o := range []client.Object{data("sound", "3"), later, plain, lister} {
			Expect(c.Create(ctx, o)).To(Succeed())
		}
		service := func() error {
			return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "of-later"}, &corev1.Service{})
		}
		Eventually(service).WithTimeout(soon).Should(Succeed())

		Expect(change(ctx, c, later, func(cm *corev1.ConfigMap) { cm.Data["size"] = "odd" })).To(Succeed())
		Eventually(func() string { return readyMessage(ctx, c, lister) }).WithTimeout(soon).Should(And(
			ContainSubstring("Ready: False ProgramError"), ContainSubstring(`by field "size"`), ContainSubstring(namespace+"/later"), ContainSubstring("nil pointer"),
		))
		Expect(service()).To(Succeed(), "what is not known is not unwanted")
		Eventually(log.String).WithTimeout(soon).Should(And(
			ContainSubstring("a function of a declaration panicked"), ContainSubstring(`"function"="Index"`), ContainSubstring("panics_test.go"),
		))
		Eventually(metric).WithArguments("reconcilekit_phase_panics_total", map[string]string{"controller": name, "phase": "Index"}).Should(Equal(1))

		for _, secret := range []string{"trap", "snare"} {
			before := p.count("plain")
			Expect(c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secret}})).To(Succeed())
			if secret == "snare" {
				Eventually(p.count).WithArguments("plain").WithTimeout(soon).Should(BeNumerically(">", before), "a pass too many does no harm")
			}
		}
		Eventually(log.String).WithTimeout(soon).Should(And(ContainSubstring("no such tenant"), ContainSubstring("no such label")))
		Expect(readyz(address)).To(Equal("ok"))

		Expect(change(ctx, c, later, func(cm *corev1.ConfigMap) { cm.Data["size"] = "3" })).To(Succeed())
		Eventually(func() string { return readyMessage(ctx, c, lister) }).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
	})
})
