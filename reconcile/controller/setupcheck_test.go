package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// bare is a widget whose CRD has no status subresource.
type bare struct{ widget.Widget }

// DeepCopyObject implements runtime.Object.
func (b *bare) DeepCopyObject() runtime.Object {
	return &bare{*b.Widget.DeepCopyObject().(*widget.Widget)}
}

// bareReconciler does nothing.
type bareReconciler struct{}

func (bareReconciler) FetchRemoteState(context.Context, reconcile.Reader, reconcile.ReconcileContext[*bare]) world {
	return world{}
}

func (bareReconciler) PlanResources(context.Context, reconcile.ReconcileContext[*bare], world) (plan reconcile.PlanResult, _ error) {
	return plan, nil
}

var _ = Describe("The setup of a controller", func() {
	It("rejects an owner kind without the status subresource", func() {
		crd := widget.CRD()
		crd.Name = "bares." + widget.GroupVersion.Group
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "bares", Singular: "bare", Kind: "Bare", ListKind: "BareList"}
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Subresources = nil
		}
		options := envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}}
		_, err := envtest.InstallCRDs(env.Config(), options)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(envtest.UninstallCRDs(env.Config(), options)).To(Succeed()) })
		scheme := testScheme(GinkgoTB())
		scheme.AddKnownTypeWithName(widget.GroupVersion.WithKind("Bare"), &bare{})
		mgr, err := manager.New(env.Config(), manager.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
		Expect(err).NotTo(HaveOccurred())
		err = controller.New("bare", bareReconciler{}).Options(settings()).Build().SetupWithManager(mgr)
		Expect(err).To(MatchError(And(ContainSubstring("/v1/Bare is served without the status subresource"),
			ContainSubstring("+kubebuilder:subresource:status"))))
	})

	It("rejects a resource name that differs from the derived permissions", func(_ context.Context) {
		crd := widget.CRD()
		crd.Name = "mailboxen." + widget.GroupVersion.Group
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
			Plural: "mailboxen", Singular: "mailbox", Kind: "Mailbox", ListKind: "MailboxList",
		}
		options := envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}}
		_, err := envtest.InstallCRDs(env.Config(), options)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(envtest.UninstallCRDs(env.Config(), options)).To(Succeed()) })
		mailbox := &unstructured.Unstructured{}
		mailbox.SetGroupVersionKind(widget.GroupVersion.WithKind("Mailbox"))
		for _, plural := range []string{"", "mailboxen"} {
			log := &lines{}
			runs{logger: log.logger()}.start(env.Namespace(GinkgoTB()), func(mgr manager.Manager) error {
				var options []controller.KindOption
				if plural != "" {
					options = append(options, controller.Resource(plural))
				}
				return controller.New("mail"+plural, &probe{}).Reads(mailbox, options...).Options(settings()).Build().SetupWithManager(mgr)
			})
			complaint := And(ContainSubstring("add controller.Resource beside the kind"), ContainSubstring("mailboxes"), ContainSubstring("mailboxen"))
			if plural != "" {
				complaint = Not(ContainSubstring("add controller.Resource beside the kind"))
			}
			Expect(log.String()).To(complaint)
		}
	})

	It("rejects a filter that is missing in the cache options", func(ctx context.Context) {
		namespace, c, log := env.Namespace(GinkgoTB()), admin(), &lines{}
		Expect(c.Create(ctx, configMap(namespace, "unlabelled", nil))).To(Succeed())
		runs{logger: log.logger()}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("unfiltered", &probe{}).
				Reads(&corev1.ConfigMap{}, controller.Filter(client.MatchingLabels{"app": "shop"})).
				Options(settings()).Build().
				SetupWithManager(mgr)
		})
		Eventually(log.String).WithTimeout(soon).Should(And(
			ContainSubstring("the filter of the kind is not installed"), ContainSubstring("/v1/ConfigMap"), ContainSubstring("app=shop"),
		))
	})
})
