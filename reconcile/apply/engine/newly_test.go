package engine_test

import (
	"fmt"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A child whose plan changes is as newly created", func() {
	for name, change := range map[string]struct{ before, after func(*appsv1.Deployment) }{
		"a strategy that the API server refuses with the old default": {
			func(*appsv1.Deployment) {},
			func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType },
		},
		"a service account that leaves": {
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.ServiceAccountName = "account" },
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.ServiceAccountName = "" },
		},
		"an image whose pull policy differs": {
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "app:latest" },
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "app:1" },
		},
	} {
		It(name, func() {
			w := newWorld()
			plan := func(name string, change func(*appsv1.Deployment), opts ...apply.ChildOption) func() apply.Plan {
				return one(func() client.Object {
					o := deployment(name)
					change(o)
					return o
				}, opts...)
			}
			w.converge(plan("web", change.before))
			w.converge(plan("web", change.after, apply.Recreate()))
			w.quiet(3, plan("web", change.after, apply.Recreate()))
			fresh := deployment("fresh")
			fresh.Namespace = w.namespace
			change.after(fresh)
			Expect(w.admin.Create(w.ctx, fresh)).To(Succeed())
			stored := &appsv1.Deployment{}
			Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "web"}, stored)).To(Succeed())
			Expect(cmp.Diff(fresh.Spec, stored.Spec)).To(BeEmpty())
		})
	}

	It("a Service whose planned node port another manager has moved to another port", func() {
		w := newWorld()
		plan := one(func() client.Object {
			o := &corev1.Service{ObjectMeta: meta("web"), Spec: servicePort()}
			o.Spec.Type, o.Spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, 30123
			return o
		})
		w.converge(plan)
		edit := fmt.Sprintf(`[{"op":"replace","path":"/spec/ports/0/port","value":%d}]`, 8099)
		w.edit(&corev1.Service{ObjectMeta: meta("web")}, types.JSONPatchType, edit, "kubectl-edit")
		w.converge(plan)
		stored := &corev1.Service{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "web"}, stored)).To(Succeed())
		Expect(stored.Spec.Ports).To(HaveLen(1))
		Expect(stored.Spec.Ports[0].Port).To(Equal(servicePort().Ports[0].Port))
	})
})
