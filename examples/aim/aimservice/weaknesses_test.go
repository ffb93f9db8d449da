package aimservice_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// testCluster creates the objects that a service for model m needs, and the service.
func testCluster(service *aimv1alpha1.AIMService) {
	GinkgoHelper()
	create(readyModel(service.Namespace, "m"), readyTemplate(service.Namespace, "t", "m"), service)
}

// routedTo enables routing of a service at a path.
func routedTo(service *aimv1alpha1.AIMService, path string) *aimv1alpha1.AIMService {
	service.Spec.Routing = &aimv1alpha1.AIMRuntimeRoutingConfig{Enabled: new(true), GatewayRef: gatewayNamed("gw"), PathTemplate: &path}
	return service
}

// update changes a service and sends the update.
func update(service *aimv1alpha1.AIMService, change func()) {
	GinkgoHelper()
	Eventually(func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
			return err
		}
		change()
		return c.Update(ctx, service)
	}).Should(Succeed())
}

// weights adds cacheable weights to a template.
func weights(template *aimv1alpha1.AIMServiceTemplate) *aimv1alpha1.AIMServiceTemplate {
	template.Status.ModelSources = []aimv1alpha1.AIMModelSource{{ModelID: "acme/m", SourceURI: "hf://acme/m"}}
	return template
}

// cachesIn lists the caches of a namespace.
func cachesIn(namespace string) []aimv1alpha1.AIMTemplateCache {
	GinkgoHelper()
	list := &aimv1alpha1.AIMTemplateCacheList{}
	Expect(c.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
	return list.Items
}

// The numbers are those of the list of weaknesses of the product's own operator.
var _ = Describe("Weakness", func() {
	It("1: the status is not rewritten by reconciliations that change nothing", func() {
		service := serviceOf(namespace(), "s", "m")
		testCluster(service)
		served(service)
		before := read(service).DeepCopy()
		for range 3 {
			trigger(service)
		}
		after := read(service)
		Expect(after.ResourceVersion).To(Equal(before.ResourceVersion))
		Expect(meta.FindStatusCondition(
			after.Status.Conditions, "Ready",
		).Reason).To(Equal(meta.FindStatusCondition(before.Status.Conditions, "Ready").Reason))
	})

	It("2: a user's fix reaches the InferenceService while its pod still fails", func() {
		service := serviceOf(namespace(), "s", "m")
		testCluster(service)
		isvc := inferenceServiceOf(service)
		pod := podOf(service.Namespace, "p", isvc.Name)
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "kserve-container", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "ImagePullBackOff", Message: "401 unauthorized: authentication required",
			}},
		}}}
		create(pod)
		Eventually(condition(service, "InferenceServicePodsReady")).Should(HavePrefix("False ImagePullAuthFailure"))
		Eventually(state(service)).Should(Equal("Failed"))
		update(service, func() { service.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}} })
		Eventually(func() []corev1.LocalObjectReference { return read(isvc).Spec.Predictor.ImagePullSecrets }).Should(ConsistOf(HaveField(
			"Name", "pull",
		)))
	})

	It("3: an evicted pod next to a healthy one does not fail the service", func() {
		service := serviceOf(namespace(), "s", "m")
		testCluster(service)
		isvc := inferenceServiceOf(service)
		gone, well := podOf(service.Namespace, "gone", isvc.Name), podOf(service.Namespace, "well", isvc.Name)
		gone.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"}
		well.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		}
		create(gone, well)
		served(service)
		Eventually(condition(service, "InferenceServicePodsReady")).Should(HavePrefix("True"))
	})

	It("4 and 16: disabled routing leaves no route, condition or status", func() {
		service := routedTo(serviceOf(namespace(), "s", "m"), "/weakness4")
		testCluster(service)
		route := routeOf(service)
		makeReady(inferenceServiceOf(service))
		Eventually(condition(service, "HTTPRouteReady")).Should(HavePrefix("False"))
		update(service, func() { service.Spec.Routing.Enabled = new(false) })
		running(service)
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(route), route)) }).Should(BeTrue())
		Eventually(condition(service, "HTTPRouteReady")).Should(Equal("none"))
		Expect(service.Status.Routing).To(BeNil())
	})

	It("5: the reference to the model has its namespace", func() {
		service := serviceOf(namespace(), "s", "m")
		testCluster(service)
		served(service)
		Expect(service.Status.ResolvedModel).To(HaveField("Namespace", service.Namespace))
	})

	It("6: an edit of an owned field is repaired, and another manager's field is named", func() {
		service := serviceOf(namespace(), "s", "m")
		testCluster(service)
		isvc := served(service)
		Expect(c.Patch(ctx, isvc, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"predictor":{"maxReplicas":7}}}`)))).To(Succeed())
		Eventually(func() int32 { return read(isvc).Spec.Predictor.MaxReplicas }).Should(BeEquivalentTo(1))

		taken := &kserve.InferenceService{
			TypeMeta:   metav1.TypeMeta{APIVersion: "serving.kserve.io/v1beta1", Kind: "InferenceService"},
			ObjectMeta: named(isvc.Namespace, isvc.Name), Spec: kserve.InferenceServiceSpec{Predictor: kserve.Predictor{MaxReplicas: 9}},
		}
		raw, err := json.Marshal(map[string]any{
			"apiVersion": taken.APIVersion, "kind": taken.Kind, "metadata": map[string]any{"name": isvc.Name},
			"spec": map[string]any{"predictor": map[string]any{"maxReplicas": 9}},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Patch(
			ctx, taken, client.RawPatch(types.ApplyPatchType, raw), client.FieldOwner("somebody"), client.ForceOwnership,
		)).To(Succeed())
		Eventually(func(g Gomega) string { _ = state(service)(g); return describe(service) }).Should(And(
			ContainSubstring("maxReplicas"), ContainSubstring("somebody"),
		))
	})

	It("7: a bad timeout or route does not keep the model from being served", func() {
		service := routedTo(serviceOf(namespace(), "s", "m"), "/weakness7")
		service.Spec.Routing.RequestTimeout = &metav1.Duration{Duration: 100e3} // 100us
		testCluster(service)
		isvc := inferenceServiceOf(service)
		makeReady(isvc)
		Eventually(condition(service, "HTTPRouteReady")).Should(HavePrefix("False TimeoutInvalid"))
		Eventually(condition(service, "InferenceServiceReady")).Should(HavePrefix("True"))
		Eventually(state(service)).Should(Equal("Degraded"))
		update(service, func() { service.Spec.Routing.RequestTimeout = &metav1.Duration{Duration: 1500e6} })
		Expect(*routeOf(service).Spec.Rules[0].Timeouts.Request).To(BeEquivalentTo("1s500ms"))
	})

	It("8: services with one prefix, such as a.b and a-b, do not share children", func() {
		ns := namespace()
		create(readyModel(ns, "m"), readyTemplate(ns, "t", "m"))
		long := strings.Repeat("a", 50)
		names := map[string]bool{}
		for _, name := range []string{long + "-one", long + "-two", "my.svc", "my-svc"} {
			service := serviceOf(ns, name, "m")
			create(service)
			isvc := inferenceServiceOf(service)
			Expect(metav1.IsControlledBy(isvc, service)).To(BeTrue())
			names[isvc.Name] = true
		}
		Expect(names).To(HaveLen(4))
	})

	It("9: a shared cache is not rewritten by a second service, and remains after the first", func() {
		ns := namespace()
		one, two := serviceOf(ns, "one", "m"), serviceOf(ns, "two", "m")
		one.Spec.Env = []corev1.EnvVar{{Name: "HF_TOKEN", Value: "one"}}
		create(readyModel(ns, "m"), weights(readyTemplate(ns, "t", "m")), one)
		Eventually(func() int { return len(cachesIn(ns)) }).Should(Equal(1))
		first := cachesIn(ns)[0]
		Expect(first.Labels).To(HaveKeyWithValue("aim.eai.amd.com/service.name", "one"))
		create(two)
		Eventually(condition(two, "CacheReady")).Should(HavePrefix("False"))
		Eventually(func(g Gomega) *aimv1alpha1.AIMResolvedReference {
			_ = state(two)(g)
			return two.Status.ResolvedTemplate
		}).ShouldNot(BeNil())
		Expect(cachesIn(ns)).To(ConsistOf(HaveField("ObjectMeta.ResourceVersion", first.ResourceVersion)))

		Expect(c.Delete(ctx, one)).To(Succeed())
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(one), one)) }).Should(BeTrue())
		Expect(cachesIn(ns)).To(HaveLen(1), "the second service waits for the shared cache")
		Expect(c.Delete(ctx, two)).To(Succeed())
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(two), two)) }).Should(BeTrue())
	})

	DescribeTable("10: overrides work for a template that is",
		func(cluster, explicit bool) {
			ns := namespace()
			model := ns
			service := serviceOf(ns, "s", model)
			service.Spec.Overrides = &aimv1alpha1.AIMServiceOverrides{}
			service.Spec.Overrides.Metric = new(aimv1alpha1.AIMMetricLatency)
			base := "t"
			if cluster {
				base = ns
				create(clusterTemplate(ns, model))
			} else {
				create(readyTemplate(ns, "t", model))
			}
			if explicit {
				service.Spec.Template.Name = base
			}
			create(readyModel(ns, model), service)
			derived := &aimv1alpha1.AIMServiceTemplate{}
			Eventually(func(g Gomega) {
				list := &aimv1alpha1.AIMServiceTemplateList{}
				g.Expect(c.List(ctx, list, client.InNamespace(ns))).To(Succeed())
				for _, item := range list.Items {
					if strings.Contains(item.Name, "-ovr-latency-") {
						derived = item.DeepCopy()
					}
				}
				g.Expect(derived.Name).NotTo(BeEmpty())
			}).Should(Succeed())
			Expect(metav1.IsControlledBy(derived, service)).To(BeTrue())
			Expect(*derived.Spec.Metric).To(Equal(aimv1alpha1.AIMMetricLatency))
			Eventually(condition(service, "TemplateReady")).Should(HavePrefix("False TemplateNotReady"))
			makeReady(derived)
			served(service)
			Expect(service.Status.ResolvedTemplate.Name).To(Equal(derived.Name))

			other := serviceOf(ns, "other", model) // the derived template is no candidate for other services
			create(other)
			served(other)
			Expect(other.Status.ResolvedTemplate.Name).To(Equal(base))
		},
		Entry("named, of the namespace", false, true),
		Entry("named, of the cluster", true, true),
		Entry("selected, of the namespace", false, false),
		Entry("selected, of the cluster", true, false),
	)

	It("10: an invalid path template is reported, and the existing route is kept", func() {
		service := routedTo(serviceOf(namespace(), "s", "m"), "/weakness10/{.metadata.name}")
		testCluster(service)
		route := routeOf(service)
		update(service, func() { service.Spec.Routing.PathTemplate = new("/{.metadata.labels['missing']}") })
		Eventually(condition(service, "HTTPRouteReady")).Should(And(HavePrefix("False PathTemplateInvalid"), ContainSubstring("missing")))
		Expect(*read(route).Spec.Rules[0].Matches[0].Path.Value).To(Equal("/weakness10/s"))
		Eventually(state(service)).ShouldNot(Equal("Failed"))
	})

	It("11: the namespace can switch off what the cluster switches on", func() {
		ns := namespace()
		cluster := &aimv1alpha1.AIMClusterRuntimeConfig{ObjectMeta: named("", ns), Spec: aimv1alpha1.AIMRuntimeConfigCommon{
			Routing: &aimv1alpha1.AIMRuntimeRoutingConfig{Enabled: new(true), GatewayRef: gatewayNamed("gw")},
		}}
		upper := &aimv1alpha1.AIMRuntimeConfig{ObjectMeta: named(ns, ns), Spec: aimv1alpha1.AIMRuntimeConfigCommon{
			Routing: &aimv1alpha1.AIMRuntimeRoutingConfig{Enabled: new(false)},
		}}
		service := serviceOf(ns, "s", "m")
		service.Spec.RuntimeConfigName = ns
		create(cluster, upper)
		testCluster(service)
		served(service)
		Expect(service.Status.ResolvedRuntimeConfig).To(HaveField("Scope", aimv1alpha1.AIMResolutionScopeMerged))
		Eventually(condition(service, "HTTPRouteReady")).Should(Equal("none"))
		Expect(c.Delete(ctx, upper)).To(Succeed())
		routeOf(service)
	})

	It("12: an unavailable template gives a valid status", func() {
		service := serviceOf(namespace(), "s", "m")
		service.Spec.Template.Name = "t"
		template := readyTemplate(service.Namespace, "t", "m")
		template.Status.Status = aimv1alpha1.AIMStatusNotAvailable
		create(readyModel(service.Namespace, "m"), template, service)
		Eventually(state(service)).Should(Equal("Degraded"))
		Eventually(condition(service, "TemplateReady")).Should(Equal("False TemplateNotReady: Template t is NotAvailable"))
	})

	It("14: an old event does not fail an InferenceService that is ready", func() {
		service := serviceOf(namespace(), "s", "m")
		testCluster(service)
		isvc := inferenceServiceOf(service)
		event := &corev1.Event{
			ObjectMeta: named(isvc.Namespace, "e"), Type: corev1.EventTypeWarning, Reason: "InternalError", Message: "it broke",
			InvolvedObject: corev1.ObjectReference{Kind: "InferenceService", Namespace: isvc.Namespace, Name: isvc.Name, UID: isvc.UID},
		}
		Expect(c.Create(ctx, event)).To(Succeed())
		Eventually(condition(service, "InferenceServiceReady")).Should(Equal("False InternalError: it broke"))
		makeReady(read(isvc))
		running(service)
	})

	It("15: a service with a custom model is triggered by that model, whichever client created it", func() {
		ns := namespace()
		custom := &aimv1alpha1.AIMServiceModelCustom{
			BaseImage: "ghcr.io/acme/base:1", ModelSources: []aimv1alpha1.AIMModelSource{{ModelID: "acme/m", SourceURI: "hf://acme/m"}},
			Hardware: aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Requests: 1}},
		}
		one, two := serviceOf(ns, "one", ""), serviceOf(ns, "two", "")
		one.Spec.Model, two.Spec.Model = aimv1alpha1.AIMServiceModel{Custom: custom}, aimv1alpha1.AIMServiceModel{Custom: custom}
		create(one, two)
		model := &aimv1alpha1.AIMModel{ObjectMeta: named(ns, aimservice.GenerateCustomModelName(custom))}
		Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(model), model) }).Should(Succeed())
		Expect(model.OwnerReferences).To(BeEmpty())
		Expect(model.Labels).To(And(
			HaveKeyWithValue("aim.eai.amd.com/origin", "auto-generated"), HaveKeyWithValue("aim.eai.amd.com/custom-model", "true"),
		))
		makeReady(model)
		for _, service := range []*aimv1alpha1.AIMService{one, two} {
			Eventually(condition(service, "ModelReady")).Should(HavePrefix("True ModelResolved"))
		}
	})

	It("20: a node with GPUs of two models offers both", func() {
		ns := namespace()
		needing := func(name, model, gpu string) *aimv1alpha1.AIMServiceTemplate {
			template := readyTemplate(ns, name, model)
			template.Spec.Hardware = &aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Model: gpu, Requests: 1}}
			return template
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{
			"amd.com/gpu.device-id.738c": "2", "amd.com/gpu.device-id.740f": "2",
		}}} // MI100 and MI210, which no other test uses
		Expect(c.Create(ctx, node)).To(Succeed())
		DeferCleanup(func() { Expect(c.Delete(ctx, node)).To(Succeed()) })
		create(
			readyModel(ns, "both"), needing("old", "both", "MI100"), needing("new", "both", "MI210"), readyModel(ns, "one"),
			needing("only", "one", "MI100"),
		)
		for name, want := range map[string]string{"both": "new", "one": "only"} {
			service := serviceOf(ns, name, name)
			create(service)
			served(service)
			Expect(service.Status.ResolvedTemplate).To(HaveField("Name", want))
		}
	})

	It("21: volumes have a fixed order, independent of the order of the artifacts", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		create(readyModel(ns, "m"), weights(readyTemplate(ns, "t", "m")), service)
		Eventually(func() int { return len(cachesIn(ns)) }).Should(Equal(1))
		cache := cachesIn(ns)[0]
		cache.Status = aimv1alpha1.AIMTemplateCacheStatus{
			Status: aimv1alpha1.AIMStatusReady, Artifacts: map[string]aimv1alpha1.AIMResolvedArtifact{},
		}
		for _, name := range []string{"c", "a", "b"} {
			cache.Status.Artifacts[name] = aimv1alpha1.AIMResolvedArtifact{
				Name: name, UID: name, Model: "acme/" + name, Status: aimv1alpha1.AIMStatusReady, PersistentVolumeClaim: "pvc-" + name,
			}
		}
		setStatus(&cache)
		isvc := inferenceServiceOf(service)
		Expect(isvc.Spec.Predictor.Volumes).To(HaveExactElements(
			HaveField("Name", "dshm"), HaveField("Name", "a"), HaveField("Name", "b"), HaveField("Name", "c"),
		))
		Expect(isvc.Spec.Predictor.Containers[0].VolumeMounts[1].MountPath).To(Equal("/workspace/cache/acme/a"))

		cache = *read(&cache) // losing a cache does not change the volumes
		Expect(c.Delete(ctx, &cache)).To(Succeed())
		Eventually(condition(service, "CacheReady")).Should(HavePrefix("False Cache"))
		Expect(read(isvc).Spec.Predictor.Volumes).To(HaveLen(4))
	})

	It("32: a path for all requests is rejected, and the older of two services gets the path", func() {
		ns := namespace()
		create(readyModel(ns, "m"), readyTemplate(ns, "t", "m"))
		root := routedTo(serviceOf(ns, "root", "m"), "/___")
		create(root)
		Eventually(condition(root, "HTTPRouteReady")).Should(HavePrefix("False PathTemplateInvalid"))

		path := "/" + ns
		older, younger := routedTo(serviceOf(ns, "a-older", "m"), path), routedTo(serviceOf(ns, "b-younger", "m"), path)
		create(older)
		route := routeOf(older)
		create(younger)
		Eventually(condition(younger, "HTTPRouteReady")).Should(And(HavePrefix("False PathConflict"), ContainSubstring(ns+"/a-older")))
		inferenceServiceOf(younger)
		Expect(c.Delete(ctx, older)).To(Succeed())
		Expect(client.IgnoreNotFound(c.Delete(ctx, route))).To(Succeed()) // as the garbage collector does
		Expect(*routeOf(younger).Spec.Rules[0].Matches[0].Path.Value).To(Equal(path))
	})

	It("33: braces that do not match in a path template are reported", func() {
		service := routedTo(serviceOf(namespace(), "s", "m"), "/{.metadata.name")
		testCluster(service)
		inferenceServiceOf(service)
		Eventually(condition(service, "HTTPRouteReady")).Should(HavePrefix("False PathTemplateInvalid"))
	})

	It("34: the name of an InferenceService starts with a letter", func() {
		service := serviceOf(namespace(), "1st", "m")
		testCluster(service)
		Expect(inferenceServiceOf(service).Name).To(HavePrefix("x1st-"))
	})
})
