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
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("A controller across two clusters", func() {
	// elsewhere starts an API server that does not serve the owners' kind.
	elsewhere := func() (cluster.Cluster, client.Client) {
		GinkgoHelper()
		server := &envtest.Environment{ControlPlaneStartTimeout: soon, ControlPlaneStopTimeout: soon}
		server.UseExistingCluster = new(false)
		server.ControlPlane.GetAPIServer().Configure().Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none")
		config, err := server.Start()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(server.Stop)
		other, err := cluster.New(config, func(o *cluster.Options) { o.Scheme = testScheme(GinkgoTB()) })
		Expect(err).NotTo(HaveOccurred())
		c, err := client.New(config, client.Options{Scheme: testScheme(GinkgoTB())})
		Expect(err).NotTo(HaveOccurred())
		return other, c
	}

	It("creates, repairs and prunes children in one cluster for owners in the other, and deletes them before the owner", func(ctx context.Context) {
		namespace, owners := env.Namespace(GinkgoTB()), admin()
		other, children := elsewhere()
		Expect(children.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			message := configMap(o.Namespace, o.Name, nil)
			message.Data = map[string]string{"message": o.Spec.Message}
			plan.Apply(message, apply.Shared)
			if o.Spec.Count > 0 {
				plan.Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}}, apply.Shared)
			}
			return plan
		}}
		var both client.Client
		runs{}.start(namespace, func(mgr manager.Manager) error {
			across, err := controller.Across(mgr, other, &widget.Widget{})
			Expect(err).NotTo(HaveOccurred())
			both = across.GetClient()
			Expect(mgr.Add(other)).To(Succeed())
			return controller.New("across", p).Writes(&corev1.ConfigMap{}).Writes(&corev1.Secret{}).Options(settings()).Build().SetupWithManager(across)
		})
		owner := newWidget(namespace, "w")
		owner.Spec.Message, owner.Spec.Count = "hello", 1
		Expect(owners.Create(ctx, owner)).To(Succeed())
		key := client.ObjectKeyFromObject(owner)

		message := func() string {
			found := &corev1.ConfigMap{}
			Expect(client.IgnoreNotFound(children.Get(ctx, key, found))).To(Succeed())
			return found.Data["message"]
		}
		gone := func(c client.Client, object client.Object) func() bool {
			return func() bool { return apierrors.IsNotFound(c.Get(ctx, key, object)) }
		}
		Eventually(message).WithTimeout(soon).Should(Equal("hello"))
		Eventually(gone(children, &corev1.Secret{})).WithTimeout(soon).Should(BeFalse())
		Expect(gone(owners, &corev1.ConfigMap{})()).To(BeTrue(), "nothing is made beside the owner")

		Expect(children.Patch(ctx, configMap(namespace, "w", nil),
			client.RawPatch(types.MergePatchType, []byte(`{"data":{"message":"drift"}}`)))).To(Succeed())
		Eventually(message).WithTimeout(soon).Should(Equal("hello"))

		Expect(change(ctx, owners, owner, func(o *widget.Widget) { o.Spec.Count = 0 })).To(Succeed())
		Eventually(gone(children, &corev1.Secret{})).WithTimeout(soon).Should(BeTrue())
		Expect(message()).To(Equal("hello"))
		Eventually(func() bool {
			Expect(owners.Get(ctx, key, owner)).To(Succeed())
			return len(owner.Status.Conditions) > 0
		}).WithTimeout(soon).Should(BeTrue())

		By("writing subresources in the cluster of the object")
		there := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "there"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		}
		Expect(children.Create(ctx, there)).To(Succeed())
		nothing := client.RawPatch(types.MergePatchType, []byte(`{"status":{}}`))
		for _, object := range []client.Object{there, owner} {
			Expect(both.Status().Patch(ctx, object, nothing)).To(Succeed())
			Expect(both.SubResource("status").Patch(ctx, object, nothing)).To(Succeed())
		}

		Expect(owners.Delete(ctx, owner)).To(Succeed())
		Eventually(gone(owners, &widget.Widget{})).WithTimeout(soon).Should(BeTrue())
		Expect(gone(children, &corev1.ConfigMap{})()).To(BeTrue())
	})

	It("rejects owner references and optional kinds", func() {
		namespace := env.Namespace(GinkgoTB())
		mgr := runs{}.manager(namespace)
		other, err := cluster.New(env.Config(), func(o *cluster.Options) { o.Scheme = testScheme(GinkgoTB()) })
		Expect(err).NotTo(HaveOccurred())
		across, err := controller.Across(mgr, other, &widget.Widget{})
		Expect(err).NotTo(HaveOccurred())
		Expect(controller.New("across-owns", &probe{}).Owns(&corev1.Secret{}).Options(settings()).Build().SetupWithManager(across)).
			To(MatchError(ContainSubstring("declare it with Writes and plan it with apply.Shared")))
		Expect(controller.New("across-optional", &probe{}).Reads(&corev1.Secret{}, controller.Optional).Options(settings()).Build().SetupWithManager(across)).
			To(MatchError(ContainSubstring("Secret is Optional, which is not looked for in another cluster")))
	})
})
