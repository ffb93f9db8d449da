package controller_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// manifest returns the object in the form of a manifest file.
func manifest(kind string, object client.Object) *unstructured.Unstructured {
	GinkgoHelper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	Expect(err).NotTo(HaveOccurred())
	delete(content, "status")
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(widget.GroupVersion.WithKind(kind))
	return u
}

var _ = Describe("A preview of a manifest", func() {
	build := func() *controller.Controller {
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			child := configMap(o.Namespace, o.Name, o.Labels)
			child.Data = map[string]string{"message": o.Spec.Message}
			plan.Apply(child)
			return plan
		}}
		return controller.New("offered", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build()
	}
	look := func(ctx context.Context, config *rest.Config, namespace string, dry bool, manifests ...*unstructured.Unstructured) (preview.Report, error) {
		return controller.Preview(ctx, config, testScheme(GinkgoTB()),
			controller.PreviewOptions{Namespaces: []string{namespace}, Manifests: manifests, ServerDryRun: dry, SyncTimeout: time.Minute}, build())
	}

	It("predicts what a create or an edit does when it is applied, and writes nothing", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		other := newWidget(namespace, "other")
		Expect(c.Create(ctx, other)).To(Succeed())
		counted := &requests.Requests{}
		config := env.Rights(GinkgoTB(), []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
		}).Config()
		config.Wrap(counted.RoundTripper)
		fresh := newWidget(namespace, "fresh")
		fresh.Spec.Message = "hello"
		report, err := look(ctx, config, namespace, false, manifest("Widget", fresh), manifest("Gadget", newWidget(namespace, "x")))
		Expect(err).NotTo(HaveOccurred())
		Expect(counted.Snapshot().Writes()).To(BeEmpty())
		Expect(report.Skipped).To(ConsistOf(ContainSubstring("Gadget.test.reconcilekit.dev x: no controller reconciles it")))
		Expect(report.Owners).To(HaveLen(1), "only what was asked for")
		Expect(report.Diff()).To(And(ContainSubstring("create ConfigMap "+namespace+"/fresh (Missing"), ContainSubstring("hello")))
		Expect(client.IgnoreNotFound(c.Get(ctx, client.ObjectKeyFromObject(fresh), newWidget("", "")))).To(Succeed())

		runs{}.start(namespace, build().SetupWithManager)
		Expect(c.Create(ctx, fresh)).To(Succeed())
		Eventually(func() string { return readyMessage(ctx, c, fresh) }).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
		fresh.Spec.Message = "goodbye"
		edit := newWidget(namespace, "fresh")
		edit.Labels = map[string]string{"team": "a"}
		edit.Spec.Message = "goodbye"
		report, err = look(ctx, config, namespace, false, manifest("Widget", edit))
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Diff()).To(And(
			ContainSubstring("update ConfigMap "+namespace+"/fresh"), ContainSubstring(`"hello" -> "goodbye"`), ContainSubstring("team"),
		))
		unchanged := newWidget(namespace, "fresh")
		unchanged.Spec.Message = "hello"
		report, err = look(ctx, config, namespace, false, manifest("Widget", unchanged))
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Changes()).To(BeFalse(), report.Diff())
	})

	It("contains the API server's validation on request, and reports mistakes in the manifest", func(ctx context.Context) {
		namespace := env.Namespace(GinkgoTB())
		fresh := newWidget(namespace, "fresh")
		report, err := look(ctx, env.Config(), namespace, true, manifest("Widget", fresh))
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Diff()).To(ContainSubstring("create ConfigMap " + namespace + "/fresh"))
		Expect(client.IgnoreNotFound(admin().Get(ctx, client.ObjectKeyFromObject(fresh), fresh))).To(Succeed())
		for _, c := range []struct {
			words  string
			change func(*unstructured.Unstructured)
		}{
			{"spec.count", func(u *unstructured.Unstructured) { u.Object["spec"] = map[string]any{"count": "three"} }},
			{"has no namespace", func(u *unstructured.Unstructured) { u.SetNamespace("") }},
			{"is of version v9; the operator works with", func(u *unstructured.Unstructured) { u.SetAPIVersion(widget.GroupVersion.Group + "/v9") }},
			{"no controller reconciles it", func(u *unstructured.Unstructured) { u.SetKind("Gadget") }},
		} {
			bad := manifest("Widget", newWidget(namespace, "bad"))
			c.change(bad)
			_, err := look(ctx, env.Config(), namespace, true, bad)
			Expect(err).To(MatchError(ContainSubstring(c.words)))
		}
	})
})
