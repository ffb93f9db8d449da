package controller_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A kind with a filter by field and namespace", func() {
	const shown corev1.SecretType = "example.com/shown"
	secret := func(namespace, name string, of corev1.SecretType) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Type: of, StringData: map[string]string{"a": "b"}}
	}

	It("returns and watches only matching objects, and a read in another namespace is an error", func(ctx context.Context) {
		namespace, other, c := env.Namespace(GinkgoTB()), env.Namespace(GinkgoTB()), admin()
		for _, o := range []*corev1.Secret{
			secret(namespace, "in", shown), secret(namespace, "out", corev1.SecretTypeOpaque), secret(other, "elsewhere", shown),
		} {
			Expect(c.Create(ctx, o)).To(Succeed())
		}
		p := &probe{
			fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) (w world) {
				var list corev1.SecretList
				w.err = r.List(ctx, &list)
				for i := range list.Items {
					w.names = append(w.names, list.Items[i].Name)
				}
				if o.Spec.Message == "look elsewhere" {
					w.err = r.Get(ctx, client.ObjectKey{Namespace: other, Name: "elsewhere"}, &corev1.Secret{})
				}
				return w
			},
			plan: func(_ *widget.Widget, w world) (plan reconcile.PlanResult) {
				plan.Apply(&corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "seen"}, Data: map[string]string{"names": strings.Join(w.names, ",")},
				})
				return plan
			},
		}
		b := controller.New("filter-fields", p).
			Reads(&corev1.Secret{}, controller.Filter(client.MatchingFields{"type": string(shown)}, client.InNamespace(namespace))).
			Owns(&corev1.ConfigMap{}, controller.Filter(client.InNamespace(namespace))).
			Options(settings()).Build()
		options, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		runs{cache: options}.start("", b.SetupWithManager)
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		seen := func() string {
			o := &corev1.ConfigMap{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "seen"}, o); err != nil {
				return err.Error()
			}
			return o.Data["names"]
		}
		Eventually(seen).WithTimeout(soon).Should(Equal("in"))
		Expect(c.Create(ctx, secret(namespace, "later", shown))).To(Succeed())
		Eventually(seen).WithTimeout(soon).Should(Equal("in,later"))
		Expect(c.Delete(ctx, secret(namespace, "in", shown))).To(Succeed())
		Eventually(seen).WithTimeout(soon).Should(Equal("later"))

		Expect(change(ctx, c, w, func(o *widget.Widget) { o.Spec.Message = "look elsewhere" })).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(And(
			ContainSubstring("NamespaceNotWatched"), ContainSubstring(other+"/elsewhere")))
		Expect(seen()).To(Equal("later"))
	})
})
