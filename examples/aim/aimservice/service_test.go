package aimservice_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
)

// inferenceServiceOf waits for the InferenceService of a service.
func inferenceServiceOf(service *aimv1alpha1.AIMService) *kserve.InferenceService {
	GinkgoHelper()
	name, err := aimservice.GenerateInferenceServiceName(service.Name, service.Namespace)
	Expect(err).NotTo(HaveOccurred())
	isvc := &kserve.InferenceService{ObjectMeta: named(service.Namespace, name)}
	Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(isvc), isvc) }).Should(Succeed(), func() string {
		_ = c.Get(ctx, client.ObjectKeyFromObject(service), service)
		return describe(service)
	})
	return isvc
}

// routeOf waits for the route of a service.
func routeOf(service *aimv1alpha1.AIMService) *gatewayv1.HTTPRoute {
	GinkgoHelper()
	name, err := aimservice.GenerateHTTPRouteName(service.Name, service.Namespace)
	Expect(err).NotTo(HaveOccurred())
	route := &gatewayv1.HTTPRoute{ObjectMeta: named(service.Namespace, name)}
	Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(route), route) }).Should(Succeed())
	return route
}

// makeReady sets an object ready, as KServe or a gateway controller does.
func makeReady(object client.Object) {
	GinkgoHelper()
	Expect(ready.Object(ctx, c, object)).To(Succeed())
}

// served waits until a service is Running, and returns its InferenceService.
func served(service *aimv1alpha1.AIMService) *kserve.InferenceService {
	GinkgoHelper()
	isvc := inferenceServiceOf(service)
	makeReady(isvc)
	running(service)
	return isvc
}

func gatewayNamed(name string) *gatewayv1.ParentReference {
	return &gatewayv1.ParentReference{Name: gatewayv1.ObjectName(name)}
}

var _ = Describe("An AIMService", func() {
	It("runs a model by name behind a gateway", func() {
		ns := namespace()
		service := serviceOf(ns, "chat", "m")
		service.Spec.Routing = &aimv1alpha1.AIMRuntimeRoutingConfig{
			Enabled: new(true), GatewayRef: gatewayNamed("gw"), PathTemplate: new("/{.metadata.namespace}/{.metadata.name}"),
			RequestTimeout: &metav1.Duration{Duration: 90e9},
		}
		create(readyModel(ns, "m"), readyTemplate(ns, "t", "m"), service)

		isvc := inferenceServiceOf(service)
		Expect(isvc.Spec.Predictor.Containers[0].Image).To(Equal("ghcr.io/acme/" + ns + "/m:1.0"))
		Expect(metav1.IsControlledBy(isvc, service)).To(BeTrue())
		route := routeOf(service)
		Expect(*route.Spec.Rules[0].Matches[0].Path.Value).To(Equal("/" + ns + "/chat"))
		Expect(*route.Spec.Rules[0].Timeouts.Request).To(BeEquivalentTo("1m30s"))
		Eventually(state(service)).Should(Equal("Starting"))

		makeReady(isvc)
		makeReady(route)
		running(service)
		Expect(service.Status.ObservedGeneration).To(Equal(service.Generation))
		Expect(service.Status.Routing.Path).To(Equal("/" + ns + "/chat"))
		Expect(service.Status.ResolvedModel).To(HaveField("Namespace", ns))
		Expect(service.Status.ResolvedTemplate).To(HaveField("Name", "t"))
		Expect(service.Status.Runtime.Replicas).To(Equal("1"))
	})
})
