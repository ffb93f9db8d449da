package controller_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

func gadgetCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1beta1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: new(true),
				}},
			}},
		},
	}
}

var _ = Describe("An optional kind", func() {
	It("can be installed, deleted and installed again without a restart", func(ctx context.Context) {
		namespace, scheme := env.Namespace(GinkgoTB()), testScheme(GinkgoTB())
		Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
		c, err := client.New(env.Config(), client.Options{Scheme: scheme})
		Expect(err).NotTo(HaveOccurred())
		var saw atomic.Value // the child as the last reconciliation read it
		p := &probe{fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			found := readGadget(ctx, r, o)
			saw.Store(strings.Join(found.names, ""))
			return found
		}, plan: planGadget}
		wakes := &wakeLog{}
		runs{logger: wakes.logger()}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("optional", p).Owns(gadget(), controller.Optional).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
		Eventually(saw.Load).WithTimeout(soon).Should(Equal("absent"))
		absent := p.settled(ctx, "w")

		child := gadget()
		child.SetNamespace(namespace)
		child.SetName("w")
		for range 2 {
			Expect(c.Create(ctx, gadgetCRD())).To(Succeed())
			Eventually(func() error {
				return c.Get(ctx, client.ObjectKeyFromObject(child), child)
			}).WithTimeout(soon).Should(Succeed(), "the child is applied when its kind appears")
			Eventually(saw.Load).WithTimeout(soon).Should(Equal("present"), "the child wakes the owner when it comes")
			before := p.settled(ctx, "w")
			Expect(before).To(BeNumerically(">", absent))
			Expect(change(ctx, c, child, func(child *unstructured.Unstructured) {
				child.SetAnnotations(map[string]string{"changed": "yes"}) // the engine would repair its labels
			})).To(Succeed())
			Eventually(p.count).WithArguments("w").WithTimeout(soon).Should(Equal(before+1), wakes.woken)
			Consistently(p.count).WithArguments("w").WithTimeout(pause).Should(Equal(before+1), wakes.woken)

			Expect(c.Delete(ctx, gadgetCRD())).To(Succeed())
			Eventually(func() bool {
				return apierrors.IsNotFound(c.Get(ctx, client.ObjectKey{Name: gadgetCRD().Name}, &apiextensionsv1.CustomResourceDefinition{}))
			}).WithTimeout(soon).Should(BeTrue())
			Eventually(saw.Load).WithTimeout(soon).Should(Equal("absent"), "its going wakes the owner")
			absent = p.settled(ctx, "w")
			Expect(absent).To(BeNumerically(">", before+1))
			Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
		}
	})
})

var _ = Describe("An optional kind of an aggregated API without a backend", func() {
	It("is retried, and blocks neither the start nor other kinds", func(ctx context.Context) {
		const group = "later.example.com"
		gadget := func() *unstructured.Unstructured {
			out := &unstructured.Unstructured{}
			out.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1beta1", Kind: "Gadget"})
			return out
		}
		gadgetCRD := func() *apiextensionsv1.CustomResourceDefinition {
			out := gadgetCRD()
			out.Name, out.Spec.Group = "gadgets."+group, group
			return out
		}
		namespace, scheme := env.Namespace(GinkgoTB()), testScheme(GinkgoTB())
		Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
		c, err := client.New(env.Config(), client.Options{Scheme: scheme})
		Expect(err).NotTo(HaveOccurred())
		away := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1beta1." + group},
			"spec": map[string]any{
				"group": group, "version": "v1beta1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(10),
				"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": namespace, "name": "away"},
			},
		}}
		Expect(c.Create(ctx, away)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { _ = c.Delete(ctx, away) })
		discovered, err := discovery.NewDiscoveryClientForConfig(env.Config())
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() bool {
			_, err := discovered.ServerResourcesForGroupVersionWithContext(ctx, group+"/v1beta1")
			return apierrors.IsServiceUnavailable(err)
		}).WithTimeout(soon).Should(BeTrue())

		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			child := gadget()
			child.SetNamespace(o.Namespace)
			child.SetName(o.Name)
			plan.Apply(child)
			return plan
		}}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("optional-later", p).Owns(gadget(), controller.Optional).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(And(
			ContainSubstring("Ready: False"), ContainSubstring("discover "+group)))

		Expect(c.Delete(ctx, away)).To(Succeed())
		Expect(c.Create(ctx, gadgetCRD())).To(Succeed())
		DeferCleanup(func(ctx context.Context) { _ = c.Delete(ctx, gadgetCRD()) })
		child := gadget()
		child.SetNamespace(namespace)
		child.SetName("w")
		Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(child), child) }).WithTimeout(soon).Should(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("Ready: True"))
	})
})

// readGadget reads the gadget. If its kind is absent, it checks that lists are empty.
func readGadget(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
	err := r.Get(ctx, client.ObjectKeyFromObject(o), gadget())
	var absent *controller.AbsentError
	if err == nil {
		return world{names: []string{"present"}}
	}
	if !errors.As(err, &absent) {
		return world{err: client.IgnoreNotFound(err)}
	}
	if !apierrors.IsNotFound(err) {
		return world{err: err}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gadget().GroupVersionKind().GroupVersion().WithKind("GadgetList"))
	if err := r.List(ctx, list); err != nil {
		return world{err: err}
	}
	if len(list.Items) != 0 {
		return world{err: errors.New("an absent kind has objects")}
	}
	return world{names: []string{"absent"}}
}

func planGadget(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
	child := gadget()
	child.SetNamespace(o.Namespace)
	child.SetName(o.Name)
	_ = unstructured.SetNestedField(child.Object, "b", "spec", "a")
	plan.Apply(child)
	return plan
}

var _ runtime.Object = (*unstructured.Unstructured)(nil)
