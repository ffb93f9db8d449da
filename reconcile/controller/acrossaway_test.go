package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A workload cluster whose API server is killed", func() {
	It("is reported by condition and event, delays the deletion of an owner, and matches the plan afterwards", func(ctx context.Context) {
		namespace, owners := env.Namespace(GinkgoTB()), admin()
		m := newMortal()
		other, err := cluster.New(m.Config, func(o *cluster.Options) { o.Scheme = testScheme(GinkgoTB()) })
		Expect(err).NotTo(HaveOccurred())
		children, err := client.New(m.Config, client.Options{Scheme: testScheme(GinkgoTB())})
		Expect(err).NotTo(HaveOccurred())
		Expect(children.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			child := configMap(o.Namespace, o.Name, nil)
			child.Data = map[string]string{"message": o.Spec.Message}
			plan.Apply(child, apply.Shared)
			return plan
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			across, err := controller.Across(mgr, other, &widget.Widget{})
			Expect(err).NotTo(HaveOccurred())
			Expect(mgr.Add(other)).To(Succeed())
			return controller.New("across-away", p).Writes(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(across)
		})
		ready := func(status string, names ...string) {
			GinkgoHelper()
			for _, name := range names {
				Eventually(func() string { return readyMessage(ctx, owners, newWidget(namespace, name)) }).
					WithTimeout(soon).Should(ContainSubstring("Ready: "+status), name)
			}
		}
		for _, name := range []string{"still", "edited", "deleted"} {
			Expect(owners.Create(ctx, newWidget(namespace, name))).To(Succeed())
		}
		ready("True", "still", "edited", "deleted")
		child := func(name string) (found corev1.ConfigMap) {
			GinkgoHelper()
			Expect(children.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &found)).To(Succeed())
			return found
		}
		before := child("still")

		m.kill()
		Expect(change(ctx, owners, newWidget(namespace, "edited"), func(w *widget.Widget) { w.Spec.Message = "after" })).To(Succeed())
		Expect(owners.Delete(ctx, newWidget(namespace, "deleted"))).To(Succeed())
		Expect(owners.Create(ctx, newWidget(namespace, "fresh"))).To(Succeed())
		ready("False", "edited", "deleted", "fresh")
		Eventually(events).WithArguments(ctx, owners, namespace).WithTimeout(soon).Should(MatchRegexp("Warning .*connection (refused|reset)"))

		m.restart()
		ready("True", "still", "edited", "fresh")
		Expect(child("edited").Data).To(HaveKeyWithValue("message", "after"))
		Eventually(func() bool {
			return apierrors.IsNotFound(owners.Get(ctx, types.NamespacedName{Namespace: namespace, Name: "deleted"}, &widget.Widget{}))
		}).WithTimeout(soon).Should(BeTrue())
		Expect(child("still").ResourceVersion).To(Equal(before.ResourceVersion), "what was right was written anew")
		var list corev1.ConfigMapList
		Expect(children.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		Expect(names).To(ConsistOf("still", "edited", "fresh"))
	})
})
