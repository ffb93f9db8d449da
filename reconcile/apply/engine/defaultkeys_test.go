package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// The keys of a port are its number and its protocol. Most plans omit the protocol, so that the API server sets its default.
var _ = Describe("A rule for a list item with a defaulted key", func() {
	const path = "spec.ports[port=80,protocol=TCP].targetPort"
	planned := func(target int, untyped bool, rule apply.ChildOption) func() apply.Plan {
		return func() apply.Plan {
			service := &corev1.Service{ObjectMeta: meta("web"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
				{Name: "udp", Port: 80, Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromInt(1)},
				{Name: "tcp", Port: 80, TargetPort: intstr.FromInt(target)},
			}}}
			var plan apply.Plan
			if !untyped {
				plan.Apply(service, rule)
				return plan
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(service)
			Expect(err).NotTo(HaveOccurred())
			delete(content, "status")
			u := &unstructured.Unstructured{Object: content}
			u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
			plan.Apply(u, rule)
			return plan
		}
	}
	targets := func(w *world) []int {
		GinkgoHelper()
		service := &corev1.Service{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "web"}, service)).To(Succeed())
		return []int{service.Spec.Ports[0].TargetPort.IntValue(), service.Spec.Ports[1].TargetPort.IntValue()}
	}
	for _, untyped := range []bool{false, true} {
		form := map[bool]string{false: "a Go type", true: "unstructured content"}[untyped]

		It("works for a seed, in "+form, func() {
			w := newWorld()
			plan := planned(8080, untyped, apply.Seed(path))
			w.converge(plan)
			service := plan().Children[0].Object
			service.SetNamespace(w.namespace)
			w.edit(service, types.JSONPatchType, `[{"op":"replace","path":"/spec/ports/1/targetPort","value":9090}]`, "somebody")
			w.syncedObject(service)
			w.converge(plan)
			Expect(targets(w)).To(Equal([]int{1, 9090}))
			w.restart()
			w.quiet(2, plan)
		})

		It("works for a create-only field, in "+form, func() {
			w := newWorld()
			w.converge(planned(8080, untyped, apply.CreateOnly(path)))
			w.converge(planned(9090, untyped, apply.CreateOnly(path)))
			Expect(targets(w)).To(Equal([]int{1, 8080}))
		})

		It("works for an ignored field, in "+form, func() {
			w := newWorld()
			w.converge(planned(8080, untyped, apply.Ignore(path)))
			Expect(targets(w)).To(Equal([]int{1, 80}))
		})
	}
})
