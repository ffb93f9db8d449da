package aimservice_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

var _ = Describe("A service's settings", func() {
	It("come from the service, the namespace and the cluster, and follow their changes", func() {
		ns := namespace()
		lower := &aimv1alpha1.AIMClusterRuntimeConfig{ObjectMeta: named("", ns), Spec: aimv1alpha1.AIMRuntimeConfigCommon{
			Env:              []corev1.EnvVar{{Name: "AIM_ENGINE_ARGS", Value: `{"a":1,"n":{"x":1}}`}, {Name: "LOWER", Value: "1"}},
			LabelPropagation: &aimv1alpha1.AIMRuntimeConfigLabelPropagationSpec{Enabled: new(true), Match: []string{"team", "org.my/*"}},
			Routing: &aimv1alpha1.AIMRuntimeRoutingConfig{
				Enabled: new(true), GatewayRef: gatewayNamed("gw"), PathTemplate: new("/lower/{.metadata.name}"),
				Annotations: map[string]string{"a": "cluster", "b": "cluster"},
			},
		}}
		upper := &aimv1alpha1.AIMRuntimeConfig{ObjectMeta: named(ns, ns), Spec: aimv1alpha1.AIMRuntimeConfigCommon{
			Env: []corev1.EnvVar{{Name: "AIM_ENGINE_ARGS", Value: `{"n":{"y":2}}`}},
		}}
		service := serviceOf(ns, "s", "m")
		service.Labels = map[string]string{"team": "x", "other": "y", "org.my/cost": "1", "aim.eai.amd.com/tier": "gold"}
		service.Spec.RuntimeConfigName = ns
		service.Spec.Env = []corev1.EnvVar{{Name: "AIM_ENGINE_ARGS", Value: `{"a":9}`}}
		service.Spec.Routing = &aimv1alpha1.AIMRuntimeRoutingConfig{
			PathTemplate: new("/upper/{.metadata.name}"), Annotations: map[string]string{"a": "service"},
		}
		create(lower, upper)
		testCluster(service)

		makeReady(routeOf(service))
		isvc := served(service)
		Expect(isvc.Spec.Predictor.Containers[0].Env).To(ContainElements(
			corev1.EnvVar{Name: "AIM_ENGINE_ARGS", Value: `{"a":9,"n":{"x":1,"y":2}}`}, corev1.EnvVar{Name: "LOWER", Value: "1"}))
		Expect(isvc.Labels).To(And(
			HaveKeyWithValue("team", "x"), HaveKeyWithValue("org.my/cost", "1"), HaveKeyWithValue("aim.eai.amd.com/tier", "gold"),
			Not(HaveKey("other")),
		))
		Expect(isvc.Labels).To(And(
			HaveKeyWithValue("aim.eai.amd.com/service", "s"), HaveKeyWithValue("aim.eai.amd.com/template", "t"),
			HaveKeyWithValue("aim.eai.amd.com/model", "m"),
		))
		route := routeOf(service)
		Expect(route.Annotations).To(And(HaveKeyWithValue("a", "service"), HaveKeyWithValue("b", "cluster")))
		Expect(*route.Spec.Rules[0].Matches[0].Path.Value).To(Equal("/upper/s"))

		update(service, func() { service.Spec.Routing = nil })
		Eventually(func() string { return *routeOf(service).Spec.Rules[0].Matches[0].Path.Value }).Should(Equal("/lower/s"))
		lower = read(lower)
		lower.Spec.Routing.PathTemplate = new("/changed/{.metadata.name}")
		Expect(c.Update(ctx, lower)).To(Succeed())
		Eventually(func() string { return *routeOf(service).Spec.Rules[0].Matches[0].Path.Value }).Should(Equal("/changed/s"))
	})

	It("must name a gateway when they ask for a route", func() {
		service := serviceOf(namespace(), "s", "m")
		service.Spec.Routing = &aimv1alpha1.AIMRuntimeRoutingConfig{Enabled: new(true)}
		testCluster(service)
		Eventually(condition(service, "HTTPRouteReady")).Should(HavePrefix("False GatewayNotConfigured"))
		Eventually(state(service)).Should(Equal("Failed"))
		update(service, func() { service.Spec.Routing.GatewayRef = gatewayNamed("gw") })
		routeOf(service)
	})

	It("delegate scaling to KEDA, and show the status of its autoscaler", func() {
		service := serviceOf(namespace(), "s", "m")
		service.Spec.MinReplicas, service.Spec.MaxReplicas = new(int32(1)), new(int32(3))
		service.Spec.AutoScaling = &aimv1alpha1.AIMServiceAutoScaling{Metrics: []aimv1alpha1.AIMServiceMetricsSpec{{
			Type: "PodMetric", PodMetric: &aimv1alpha1.AIMServicePodMetric{
				Metric: &aimv1alpha1.AIMServiceMetric{Backend: "opentelemetry", Query: "vllm:num_requests_running"},
				Target: &aimv1alpha1.AIMServiceMetricTarget{Type: "Value", Value: "1"},
			},
		}}}
		testCluster(service)
		isvc := inferenceServiceOf(service)
		Expect(isvc.Annotations).To(And(
			HaveKeyWithValue("serving.kserve.io/autoscalerClass", "keda"),
			HaveKeyWithValue("sidecar.opentelemetry.io/inject", isvc.Name+"-predictor"),
		))
		Expect(isvc.Spec.Predictor.AutoScaling.Metrics).To(HaveLen(1))
		makeReady(isvc)
		Eventually(condition(service, "HPAReady")).Should(HavePrefix("False HPANotFound"))

		hpa := &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: named(isvc.Namespace, "keda-hpa-"+isvc.Name+"-predictor"),
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				MinReplicas: new(int32(1)), MaxReplicas: 3,
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "x"},
			},
			Status: autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 2, DesiredReplicas: 3, Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
				{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "X", Message: "no metrics"},
			}},
		}
		create(hpa.DeepCopy())
		Eventually(condition(service, "HPAReady")).Should(Equal("False MetricsFailed: no metrics"))
		hpa.Status.Conditions[0].Status = corev1.ConditionTrue
		setStatus(hpa)
		running(service)
		Expect(service.Status.Runtime.Replicas).To(Equal("2/3 (1-3)"))
	})

	It("create one model for an image of two services", func() {
		ns := namespace()
		image := "ghcr.io/acme/" + ns + ":1.2"
		one, two := serviceOf(ns, "one", ""), serviceOf(ns, "two", "")
		one.Spec.Model, two.Spec.Model = aimv1alpha1.AIMServiceModel{Image: &image}, aimv1alpha1.AIMServiceModel{Image: &image}
		name, err := aimservice.GenerateModelName(image)
		Expect(err).NotTo(HaveOccurred())
		create(readyTemplate(ns, "t", name), one, two)
		model := &aimv1alpha1.AIMModel{ObjectMeta: named(ns, name)}
		Eventually(func() error { return c.Get(ctx, client.ObjectKeyFromObject(model), model) }).Should(Succeed())
		Expect(model.Spec.Image).To(Equal(image))
		makeReady(model)
		served(one)
		served(two)
		bad := serviceOf(ns, "bad", "")
		bad.Spec.Model = aimv1alpha1.AIMServiceModel{Image: new("a/b:c:d")}
		create(bad)
		Eventually(condition(bad, "ModelReady")).Should(HavePrefix("False InvalidImageReference"))
	})

	It("create a cache for one service when it is dedicated", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		service.Spec.Caching = &aimv1alpha1.AIMServiceCachingConfig{Mode: aimv1alpha1.CachingModeNever} // the former name of the mode
		service.Spec.Storage = &aimv1alpha1.AIMStorageConfig{DefaultStorageClassName: new("fast")}
		create(readyModel(ns, "m"), weights(readyTemplate(ns, "t", "m")), service)
		Eventually(func() int { return len(cachesIn(ns)) }).Should(Equal(1))
		cache := cachesIn(ns)[0]
		Expect(metav1.IsControlledBy(&cache, service)).To(BeTrue())
		Expect(cache.Spec).To(And(
			HaveField("Mode", aimv1alpha1.TemplateCacheModeDedicated), HaveField("StorageClassName", "fast"),
			HaveField("TemplateName", "t"),
		))
		noInferenceService(ns)
		makeReady(&cache)
		served(service)
		Expect(service.Status.Cache.TemplateCacheRef).To(HaveField("Name", cache.Name))
	})

	It("keep a model running while its template is not ready or deleted", func() {
		service := serviceOf(namespace(), "s", "m")
		testCluster(service)
		isvc := served(service)
		before := read(isvc).ResourceVersion
		template := readyTemplate(service.Namespace, "t", "m")
		template.Status.Status = aimv1alpha1.AIMStatusProgressing
		setStatus(template)
		Eventually(condition(service, "TemplateReady")).Should(ContainSubstring("keeps running"))
		update(service, func() { service.Spec.Env = []corev1.EnvVar{{Name: "LATER", Value: "1"}} })
		Expect(c.Delete(ctx, template)).To(Succeed())
		Consistently(func() string { return read(isvc).ResourceVersion }).Should(Equal(before))
		create(readyTemplate(service.Namespace, "t", "m"))
		Eventually(func() []corev1.EnvVar { return read(isvc).Spec.Predictor.Containers[0].Env }).Should(ContainElement(HaveField(
			"Name", "LATER",
		)))
	})
})
