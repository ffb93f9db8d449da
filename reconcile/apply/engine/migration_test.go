package engine_test

import (
	"context"
	"slices"
	"strings"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// oldOperator creates the children like an operator without the library, with
// CreateOrUpdate and the field manager of its binary.
const oldOperator = "shop-operator"

func (w *world) oldOperator(c client.Client) []client.Object {
	GinkgoHelper()
	labels := map[string]string{"app": "web"}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.namespace}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.namespace}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.namespace}}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.namespace}}
	for object, change := range map[client.Object]func(){
		config: func() {
			config.Labels, config.Data = map[string]string{"app": "web", "made-by": "hand"}, map[string]string{"color": "green", "old": "1"}
		},
		secret: func() { secret.StringData = map[string]string{"token": "hush"} },
		service: func() {
			service.Spec.Selector = labels
			service.Spec.Ports = []corev1.ServicePort{
				{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}, {Name: "debug", Port: 8080, TargetPort: intstr.FromInt32(8080)},
			}
		},
		deployment: func() {
			deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
			deployment.Spec.Template.Labels = labels
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{
				Name: "web", Image: "web:1", Args: []string{"--old"}, Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "OLD", Value: "1"}},
			}}
		},
	} {
		_, err := controllerutil.CreateOrUpdate(w.ctx, c, object, func() error {
			change()
			return controllerutil.SetControllerReference(w.owner, object, scheme)
		})
		Expect(err).NotTo(HaveOccurred())
	}
	return []client.Object{config, secret, service, deployment}
}

// newPlan plans the same children, without the fields and objects named old, manual or debug.
func newPlan() apply.Plan {
	labels := map[string]string{"app": "web"}
	var plan apply.Plan
	plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels}, Data: map[string]string{"color": "green"}})
	plan.Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web"}, StringData: map[string]string{"token": "hush"}})
	plan.Apply(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}},
	}})
	plan.Apply(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "web", Image: "web:1", Env: []corev1.EnvVar{{Name: "A", Value: "1"}},
		}}}},
	}})
	return plan
}

var _ = Describe("An operator that was written with CreateOrUpdate", func() {
	var (
		w      *world
		before []client.Object
	)
	managers := func(o client.Object) (names []string) {
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		for _, e := range o.GetManagedFields() {
			if e.Subresource == "" {
				names = append(names, e.Manager+" "+string(e.Operation))
			}
		}
		return names
	}
	migrate := func(former ...string) {
		w = newWorld(func(w *world) { w.options.FormerManagers = former })
		before = w.oldOperator(client.WithFieldOwner(w.admin, oldOperator))
		for _, o := range before {
			w.syncedObject(o)
		}
	}
	uids := func() (out []types.UID) {
		for _, o := range before {
			current := o.DeepCopyObject().(client.Object)
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), current)).To(Succeed())
			out = append(out, current.GetUID())
		}
		return out
	}

	It("leaves no fields behind if its field manager is declared", func() {
		migrate(oldOperator)
		want := uids()
		result, sent := w.pass(newPlan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(slices.ContainsFunc(sent, func(r string) bool { return strings.HasPrefix(r, "DELETE") })).To(BeFalse())
		w.converge(newPlan)
		Expect(uids()).To(Equal(want), "nothing is recreated")
		for _, o := range before {
			Expect(managers(o)).To(ConsistOf(manager+" Apply"), "%T", o)
		}
		config, service, deployment := before[0].(*corev1.ConfigMap), before[2].(*corev1.Service), before[3].(*appsv1.Deployment)
		Expect(config.Data).To(Equal(map[string]string{"color": "green"}))
		Expect(config.Labels).NotTo(HaveKey("made-by"))
		Expect(service.Spec.Ports).To(HaveLen(1))
		Expect(deployment.Spec.Template.Spec.Containers[0].Args).To(BeEmpty())
		Expect(deployment.Spec.Template.Spec.Containers[0].Env).To(HaveLen(1))
		w.quiet(3, newPlan)
		w.restart()
		w.quiet(3, newPlan)

		By("rolling back to the old version and forward again without a fight")
		w.oldOperator(client.WithFieldOwner(w.admin, oldOperator))
		for _, o := range before {
			w.syncedObject(o)
		}
		w.converge(newPlan)
		Expect(uids()).To(Equal(want))
		Expect(managers(before[0])).To(ConsistOf(manager + " Apply"))
	})

	It("leaves fields behind that are reported with their manager if it is not declared", func() {
		migrate()
		var lines []string
		w.ctx = log.IntoContext(context.Background(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
		w.converge(newPlan)
		said := strings.Join(lines, "\n")
		for _, part := range []string{
			`"manager"="` + oldOperator + `"`, `.metadata.labels.made-by`, `.data.old`,
			`.spec.ports[port=8080,protocol=\"TCP\"]`, `.spec.template.spec.containers[name=\"web\"].args`, `.env[name=\"OLD\"]`, "FormerManagers",
		} {
			Expect(said).To(ContainSubstring(part))
		}
		Expect(said).NotTo(ContainSubstring("hush"))
		Expect(managers(before[0])).To(ConsistOf(manager+" Apply", oldOperator+" Update"))
		lines = nil
		w.quiet(3, newPlan)
		Expect(lines).To(BeEmpty(), "once is enough")
	})
})
