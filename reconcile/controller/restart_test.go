package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// serverReconciler runs a Deployment that mounts a ConfigMap and a certificate, which users create.
type serverReconciler struct{}

type serverInputs struct {
	config      reconcile.FetchResult[*corev1.ConfigMap]
	certificate reconcile.FetchResult[*corev1.Secret]
}

// FetchRemoteState reads the ConfigMap and the Secret. A change of one of them enqueues the owner.
func (serverReconciler) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget],
) (in serverInputs) {
	key := func(name string) types.NamespacedName {
		return types.NamespacedName{Namespace: rc.Object.Namespace, Name: name}
	}
	in.config = reconcile.Fetch(ctx, r, key("server-config"), &corev1.ConfigMap{})
	in.certificate = reconcile.Fetch(ctx, r, key("server-tls"), &corev1.Secret{})
	return in
}

// PlanResources plans the Deployment. Its pods are replaced when the ConfigMap or the certificate changes.
func (serverReconciler) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], in serverInputs,
) (plan reconcile.PlanResult, _ error) {
	deployment := serverDeployment(rc.Object)
	podtemplate.RestartOn(&deployment.Spec.Template, "example.com/config-digest",
		podtemplate.ConfigMap(in.config.Value), podtemplate.Secret(in.certificate.Value, corev1.TLSCertKey))
	plan.Apply(deployment)
	return plan, nil
}

func serverDeployment(w *widget.Widget) *appsv1.Deployment {
	labels := map[string]string{"app": w.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: "server:1"}}},
			},
		},
	}
}

var _ = Describe("A controller that restarts pods", func() {
	It("changes the pod template only if the content that its pods use changes", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		declared := controller.New("restarts", serverReconciler{}).
			Owns(&appsv1.Deployment{}).Reads(&corev1.ConfigMap{}).Reads(&corev1.Secret{}).Options(settings()).Build()
		runs{}.start(namespace, declared.SetupWithManager)
		w := newWidget(namespace, "server")
		Expect(c.Create(ctx, w)).To(Succeed())

		deployment := &appsv1.Deployment{}
		digest := func() (string, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(w), deployment)
			return deployment.Spec.Template.Annotations["example.com/config-digest"], err
		}
		var seen []string
		requireNewDigest := func() {
			GinkgoHelper()
			Eventually(digest).WithTimeout(soon).Should(Not(BeElementOf(seen)))
			seen = append(seen, deployment.Spec.Template.Annotations["example.com/config-digest"])
		}
		Eventually(digest).WithTimeout(soon).Should(BeEmpty(), "nothing to restart on")
		seen = append(seen, "")

		By("creating the objects")
		config := configMap(namespace, "server-config", nil)
		config.Data = map[string]string{"port": "80"}
		Expect(c.Create(ctx, config)).To(Succeed())
		requireNewDigest()
		certificate := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "server-tls"},
			Data:       map[string][]byte{corev1.TLSCertKey: []byte("1"), corev1.TLSPrivateKeyKey: []byte("1")},
		}
		Expect(c.Create(ctx, certificate)).To(Succeed())
		requireNewDigest()

		By("changing a value")
		Expect(change(ctx, c, config, func(m *corev1.ConfigMap) { m.Data["port"] = "81" })).To(Succeed())
		requireNewDigest()
		Expect(change(ctx, c, certificate, func(s *corev1.Secret) { s.Data[corev1.TLSCertKey] = []byte("2") })).To(Succeed())
		requireNewDigest()

		By("changing metadata and a key that the pods do not use")
		generation := deployment.Generation
		Expect(change(ctx, c, config, func(m *corev1.ConfigMap) { m.Labels = map[string]string{"team": "a"} })).To(Succeed())
		Expect(change(ctx, c, certificate, func(s *corev1.Secret) { s.Data[corev1.TLSPrivateKeyKey] = []byte("2") })).To(Succeed())
		Consistently(digest).WithTimeout(4 * pause).Should(Equal(seen[len(seen)-1]))
		Expect(deployment.Generation).To(Equal(generation))

		By("deleting an object")
		Expect(c.Delete(ctx, config)).To(Succeed())
		requireNewDigest()
	})
})
