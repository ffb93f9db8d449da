package aimservice_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// passes returns the number of reconciliations so far.
func passes() (total float64) {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			total += metric.GetCounter().GetValue()
		}
	}
	return total
}

// trigger causes a reconciliation of a service: it changes a meaningless annotation of its model.
func trigger(service *aimv1alpha1.AIMService) {
	GinkgoHelper()
	before := passes()
	model := &aimv1alpha1.AIMModel{ObjectMeta: named(service.Namespace, *service.Spec.Model.Name)}
	touch := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":"%d"}}}`, time.Now().UnixNano())
	Expect(c.Patch(ctx, model, client.RawPatch(types.MergePatchType, touch))).To(Succeed())
	Eventually(passes).WithPolling(2 * time.Millisecond).Should(BeNumerically(">", before))
}

// causedBy returns the requests caused by reconciliations of the services of a namespace: those for the namespace, and
// all cluster-scoped ones, which cannot be attributed. It excludes requests that no reconciliation causes: those of
// caches, the discovery of optional kinds at the start, and the patches with which client-go counts repeated events.
func causedBy(namespace string) requests.Sent {
	return counted.Snapshot().WithoutInformers().Where(func(r requests.Request) bool {
		return (r.Namespace == namespace || r.Namespace == "") && (r.Resource != "events" || r.Verb != "patch")
	})
}

var _ = Describe("In operation", func() {
	It("sends no request in 100 reconciliations in steady state", func() {
		ns := namespace()
		service := routedTo(serviceOf(ns, "s", "m"), "/rest")
		create(readyModel(ns, "m"), readyTemplate(ns, "t", "m"), service)
		makeReady(inferenceServiceOf(service))
		makeReady(routeOf(service))
		running(service)
		Eventually(func() requests.Sent { // wait for the requests that made the service ready
			counted.Reset()
			trigger(service)
			time.Sleep(1500 * time.Millisecond)
			return causedBy(ns)
		}).WithTimeout(3 * time.Minute).Should(BeEmpty())
		counted.Reset()
		for range 100 {
			trigger(service)
		}
		Expect(causedBy(ns)).To(BeEmpty())
	})

	It("reports the owner of an object with the name of its child, and does not change the object", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		name, err := aimservice.GenerateInferenceServiceName("s", ns)
		Expect(err).NotTo(HaveOccurred())
		other := serviceOf(ns, "other", "m")
		create(other)
		theirs := &kserve.InferenceService{
			ObjectMeta: named(ns, name), Spec: kserve.InferenceServiceSpec{Predictor: kserve.Predictor{MaxReplicas: 3}},
		}
		theirs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(other, aimv1alpha1.GroupVersion.WithKind("AIMService"))}
		Expect(c.Create(ctx, theirs)).To(Succeed())
		before := read(theirs).ResourceVersion
		testCluster(service)
		Eventually(func(g Gomega) string { _ = state(service)(g); return describe(service) }).Should(ContainSubstring("controlled by AIMService other"))
		Expect(read(theirs).ResourceVersion).To(Equal(before))
		Eventually(condition(service, "Ready")).Should(HavePrefix("False"))

		Expect(c.Delete(ctx, theirs)).To(Succeed())
		served(service)
	})

	It("reports a 422 of the API server, and recovers after the cause is removed", func() {
		service := routedTo(serviceOf(namespace(), "s", "m"), "/refused")
		service.Spec.MinReplicas, service.Spec.MaxReplicas = new(int32(5)), new(int32(2))
		testCluster(service)
		routeOf(service) // one rejected child does not block another
		Eventually(condition(service, "ConfigValid")).Should(And(
			HavePrefix("False"), ContainSubstring("minReplicas cannot be greater than maxReplicas"),
		))
		Eventually(condition(service, "Ready")).Should(And(
			HavePrefix("False"), ContainSubstring("minReplicas cannot be greater than maxReplicas"),
		))
		Eventually(state(service)).Should(Equal("Failed"))
		update(service, func() { service.Spec.MaxReplicas = new(int32(5)) })
		inferenceServiceOf(service)
		Eventually(condition(service, "ConfigValid")).ShouldNot(HavePrefix("False"))
		Eventually(state(service)).ShouldNot(Equal("Failed"))
	})

	It("does nothing while paused", func() {
		service := serviceOf(namespace(), "s", "m")
		service.Annotations = map[string]string{aimservice.PauseAnnotation: "true"}
		testCluster(service)
		noInferenceService(service.Namespace)
		Expect(read(service).Status.Conditions).To(BeEmpty())
		Expect(service.Finalizers).To(BeEmpty())
		update(service, func() { service.Annotations = nil })
		served(service)
	})

	It("cleans up when a service is deleted", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		create(readyModel(ns, "m"), weights(readyTemplate(ns, "t", "m")), service)
		Eventually(func() int { return len(cachesIn(ns)) }).Should(Equal(1))
		Eventually(func() []string { return read(service).Finalizers }).Should(ContainElement(aimservice.CleanupFinalizer))
		Expect(c.Delete(ctx, service)).To(Succeed())
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(service), service)) }).Should(BeTrue())
		Expect(cachesIn(ns)).To(BeEmpty(), "an unused cache that was never ready")
	})
})
