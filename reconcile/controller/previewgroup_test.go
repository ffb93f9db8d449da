package controller_test

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
)

var _ = Describe("A preview of groups", func() {
	It("finds groups by their members and by their children, and then the owners that read the groups", func(ctx context.Context) {
		const name = "previewedsums"
		namespace, c := env.Namespace(GinkgoTB()), admin()
		build := func() (groups *controller.Controller) {
			return controller.NewGroup(sumsName, sums{}).
				Members(&widget.Widget{}, func(o client.Object) []types.NamespacedName {
					return []types.NamespacedName{{Namespace: o.GetNamespace(), Name: o.(*widget.Widget).Spec.Ref}}
				}).
				Owns(&corev1.ConfigMap{}).Options(settings()).Build()
		}
		groups := build()
		parts := controller.New(name, part{}).Joins(groups).Options(settings()).Build()
		mgr := runs{}.manager(namespace)
		Expect(errors.Join(groups.SetupWithManager(mgr), parts.SetupWithManager(mgr))).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(running) }()
		member := func(name, ref string, count int) *widget.Widget {
			w := newWidget(namespace, name)
			w.Spec.Ref, w.Spec.Count = ref, count
			Expect(c.Create(ctx, w)).To(Succeed())
			return w
		}
		stays, goes := member("stays", "one", 1), member("goes", "two", 2)
		for _, w := range []*widget.Widget{stays, goes} {
			Eventually(func() string { return readyMessage(ctx, c, w) }).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
		}
		stop()
		Eventually(stopped).WithTimeout(soon).Should(Receive(BeNil()))

		config := env.Rights(GinkgoTB(), []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
		}).Config()
		look := func() preview.Report {
			GinkgoHelper()
			groups := build()
			report, err := controller.Preview(ctx, config, testScheme(GinkgoTB()), controller.PreviewOptions{Namespaces: []string{namespace}},
				controller.New(name, part{}).Joins(groups).Options(settings()).Build(), groups)
			Expect(err).NotTo(HaveOccurred())
			Expect(report.Skipped).To(BeEmpty())
			return report
		}
		same := look()
		Expect(same.Changes()).To(BeFalse(), same.Diff())
		Expect(same.Owners).To(HaveLen(4), same.Table())

		Expect(change(ctx, c, stays, func(w *widget.Widget) { w.Spec.Count = 5 })).To(Succeed())
		Expect(c.Delete(ctx, goes)).To(Succeed())
		member("fresh", "three", 3)
		report := look()
		Expect(report.Diff()).To(And(
			ContainSubstring("update ConfigMap "+namespace+"/sum-one"), ContainSubstring(`.data.stays: "1" -> "5"`),
			ContainSubstring("prune ConfigMap "+namespace+"/sum-two (NotPlanned)"),
			ContainSubstring("create ConfigMap "+namespace+"/sum-three (Missing)"),
			ContainSubstring("condition PartReady: none -> True"),
		))
	})
})
