package engine_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

func limitCPU(d *appsv1.Deployment, cpu string) {
	d.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
}

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
		"a limit that a request was copied from": {
			func(d *appsv1.Deployment) { limitCPU(d, "1") }, func(d *appsv1.Deployment) { limitCPU(d, "2") },
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

	services := func(change func(*corev1.ServiceSpec), opts ...apply.ChildOption) func() apply.Plan {
		return one(func() client.Object {
			o := &corev1.Service{ObjectMeta: meta("web"), Spec: servicePort()}
			change(&o.Spec)
			return o
		}, opts...)
	}
	stored := func(w *world) *corev1.Service {
		o := &corev1.Service{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "web"}, o)).To(Succeed())
		return o
	}
	plain := func(*corev1.ServiceSpec) {}
	headless := func(s *corev1.ServiceSpec) { s.ClusterIP = corev1.ClusterIPNone }

	It("a Service that no longer allocates node ports", func() {
		w := newWorld()
		w.converge(services(func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeLoadBalancer }))
		after := services(func(s *corev1.ServiceSpec) {
			s.Type, s.AllocateLoadBalancerNodePorts = corev1.ServiceTypeLoadBalancer, new(false)
		})
		w.converge(after)
		w.quiet(2, after)
		Expect(stored(w).Spec.Ports[0].NodePort).To(BeZero())
	})

	It("a headless Service that may be recreated", func() {
		w := newWorld()
		w.converge(services(headless, apply.Recreate()))
		w.converge(services(plain, apply.Recreate()))
		Expect(stored(w).Spec.ClusterIP).NotTo(Equal(corev1.ClusterIPNone))
	})

	It("reports a field that left the plan and that the API server keeps, also after a restart", func() {
		w := newWorld()
		w.converge(services(headless))
		reported := func() []string {
			GinkgoHelper()
			var sent []string
			Eventually(func(g Gomega) {
				var result apply.Result
				result, sent = w.pass(services(plain)())
				g.Expect(result.Err()).To(MatchError(And(ContainSubstring("spec.clusterIP"), ContainSubstring("apply.Recreate()"))))
			}).Should(Succeed())
			return sent
		}
		Expect(reported()).NotTo(BeEmpty())
		w.syncedObject(stored(w))
		Expect(reported()).To(BeEmpty())
		w.clock.Step(time.Hour)
		Expect(reported()).NotTo(BeEmpty())
		w.syncedObject(stored(w))
		w.restart()
		w.syncedObject(stored(w))
		Expect(reported()).NotTo(BeEmpty())
		w.syncedObject(stored(w))
		Expect(reported()).To(BeEmpty())
		w.converge(services(headless))
	})

	It("asks once for the same change of many owners", func() {
		w := newWorld()
		const owners = 50
		plan := func(owner, image string) apply.Plan {
			o := deployment(owner)
			o.Spec.Template.Spec.Containers[0].Image = image
			o.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "URL", Value: "http://" + owner + ":80"}}
			return apply.Plan{Children: []apply.Child{{Object: o}}}
		}
		var all []*widget.Widget
		for i := range owners {
			all = append(all, w.newOwner(fmt.Sprintf("many-%d", i)))
		}
		for _, image := range []string{"app:1", "app:2"} {
			w.requests.take()
			for _, owner := range all {
				Expect(w.engine.Apply(w.ctx, owner, plan(owner.Name, image)).Err()).NotTo(HaveOccurred())
				w.syncedObject(deployment(owner.Name))
			}
		}
		dry := 0
		for _, line := range w.requests.take() {
			if strings.HasSuffix(line, "(dry run)") {
				dry++
			}
		}
		Expect(dry).To(Equal(1))
	})

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
