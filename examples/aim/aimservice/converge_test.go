package aimservice_test

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
)

// mode is one configuration of a service.
type mode struct {
	name     string
	service  func(*aimv1alpha1.AIMService)
	change   func(*aimv1alpha1.AIMServiceSpec) // nil changes the replicas
	given    []client.Object                   // nil: a model and a template for it
	outlives []string                          // shared objects that remain after the service is deleted
	more     []client.Object                   // further services
}

// casesPerMode is the number of sampled cases of each mode, of 300 to 500; RECONCILETEST_CASES=all runs all.
const casesPerMode = 15

const image = "ghcr.io/acme/chat:1.2"

func modes() []mode {
	byImage := func(s *aimv1alpha1.AIMService) { s.Spec.Model = aimv1alpha1.AIMServiceModel{Image: new(image)} }
	sources := []aimv1alpha1.AIMModelSource{{ModelID: "acme/own", SourceURI: "s3://acme/own"}}
	custom := &aimv1alpha1.AIMServiceModelCustom{
		BaseImage: image, ModelSources: sources,
		Hardware: aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Requests: 1}},
	}
	madeModel, _ := aimservice.GenerateModelName(image)
	customModel := aimservice.GenerateCustomModelName(custom)
	sharedCache := func(template, namespace string) string {
		name, _ := aimservice.GenerateTemplateCacheName(template, namespace, "", "", aimv1alpha1.CachingModeShared)
		return "AIMTemplateCache.aim.eai.amd.com default/" + name
	}
	heavy := weights(readyTemplate("", "t", "m"))
	heavy.Spec.ModelSources = heavy.Status.ModelSources
	cached := []client.Object{readyModel("", "m"), heavy}
	second := serviceOf("", "second", "m")
	return []mode{
		{name: "model by name"},
		{name: "model by image", service: byImage, given: []client.Object{}, outlives: made(madeModel)},
		{
			name: "model by image of two services", service: byImage, given: []client.Object{}, outlives: made(madeModel),
			more: []client.Object{with(serviceOf("", "second", ""), byImage)},
		},
		{
			name: "custom model", given: []client.Object{}, outlives: append(made(customModel), sharedCache(customModel, "default")),
			service: func(s *aimv1alpha1.AIMService) { s.Spec.Model = aimv1alpha1.AIMServiceModel{Custom: custom} },
		},
		{name: "models and templates of the cluster", given: []client.Object{clusterModel("m"), clusterTemplate("t", "m")}},
		{name: "template by name", service: func(s *aimv1alpha1.AIMService) { s.Spec.Template.Name = "slow" }, given: candidates()},
		{
			name: "template selected", given: candidates(),
			change: func(s *aimv1alpha1.AIMServiceSpec) { s.Env = []corev1.EnvVar{{Name: "LATER", Value: "1"}} },
		},
		{name: "template derived by overrides", given: candidates(), service: func(s *aimv1alpha1.AIMService) {
			s.Spec.Overrides = &aimv1alpha1.AIMServiceOverrides{AIMRuntimeParameters: aimv1alpha1.AIMRuntimeParameters{
				Precision: new(aimv1alpha1.AIMPrecision("fp16")),
			}}
		}, change: func(s *aimv1alpha1.AIMServiceSpec) { s.Overrides = nil }},
		{name: "cache shared", given: cached, outlives: []string{sharedCache("t", "default")}},
		{name: "cache shared by two services", given: cached, outlives: []string{sharedCache("t", "default")}, more: []client.Object{second}},
		{name: "cache dedicated", given: cached, service: func(s *aimv1alpha1.AIMService) {
			s.Spec.Caching = &aimv1alpha1.AIMServiceCachingConfig{Mode: aimv1alpha1.CachingModeDedicated}
		}},
		{
			name: "with routing, then without", service: func(s *aimv1alpha1.AIMService) { routedTo(s, "/{.metadata.name}") },
			change: func(s *aimv1alpha1.AIMServiceSpec) { s.Routing = nil },
		},
		{
			name: "with routing to another path", service: func(s *aimv1alpha1.AIMService) { routedTo(s, "/{.metadata.name}") },
			change: func(s *aimv1alpha1.AIMServiceSpec) { s.Routing.PathTemplate = new("/other") },
		},
		{name: "autoscaled by KEDA, then fixed", service: func(s *aimv1alpha1.AIMService) {
			s.Spec.MinReplicas, s.Spec.MaxReplicas = new(int32(1)), new(int32(3))
			s.Spec.AutoScaling = &aimv1alpha1.AIMServiceAutoScaling{Metrics: []aimv1alpha1.AIMServiceMetricsSpec{{
				Type: "PodMetric", PodMetric: &aimv1alpha1.AIMServicePodMetric{
					Metric: &aimv1alpha1.AIMServiceMetric{Backend: "opentelemetry", Query: "vllm:num_requests_running"},
					Target: &aimv1alpha1.AIMServiceMetricTarget{Type: "Value", Value: "1"},
				},
			}}}
		}, change: func(s *aimv1alpha1.AIMServiceSpec) {
			s.MinReplicas, s.MaxReplicas, s.AutoScaling, s.Replicas = nil, nil, nil, new(int32(2))
		}},
	}
}

// made returns the objects that remain after a model was created for a service: the model and its template.
func made(model string) []string {
	return []string{"AIMModel.aim.eai.amd.com default/" + model, "AIMServiceTemplate.aim.eai.amd.com default/" + model}
}

// candidates returns a model with two templates, and a node that matches one of them.
func candidates() []client.Object {
	fast, slow := readyTemplate("", "fast", "m"), readyTemplate("", "slow", "m")
	fast.Spec.Hardware = &aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Model: "MI300X", Requests: 2}}
	slow.Status.Profile.Metadata.Precision = "fp16"
	node := &corev1.Node{}
	node.Name, node.Labels = "gpus", map[string]string{"amd.com/gpu.device-id": "0x74a1"}
	return []client.Object{readyModel("", "m"), fast, slow, node}
}

func with(s *aimv1alpha1.AIMService, change func(*aimv1alpha1.AIMService)) *aimv1alpha1.AIMService {
	change(s)
	return s
}

func (m mode) system(t *testing.T) reconciletest.System {
	t.Helper()
	known := runtime.NewScheme()
	if err := aimservice.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	options, err := controller.CacheOptions(known, aimservice.New())
	if err != nil {
		t.Fatal(err)
	}
	given := m.given
	if given == nil {
		given = []client.Object{readyModel("", "m"), readyTemplate("", "t", "m")}
	}
	service := serviceOf("", "chat", "m")
	if m.service != nil {
		m.service(service)
	}
	return reconciletest.System{
		Setup:    func(mgr manager.Manager) error { return aimservice.New().SetupWithManager(mgr) },
		Scheme:   known,
		CRDPaths: crdPaths(t),
		Cache:    options,
		Given:    given,
		Owners:   append([]client.Object{service}, m.more...),
		Change: func(o client.Object) {
			spec := &o.(*aimv1alpha1.AIMService).Spec
			if m.change == nil {
				spec.Replicas = new(int32(3))
				return
			}
			m.change(spec)
		},
		// The service recorded in a shared cache or model is the first one that needed it, which differs between runs.
		Normalise: func(o *unstructured.Unstructured) {
			if shared := o.GetKind() == "AIMTemplateCache" || o.GetKind() == "AIMModel"; shared && len(m.more) > 0 {
				unstructured.RemoveNestedField(o.Object, "metadata", "labels", "aim.eai.amd.com/service")
				unstructured.RemoveNestedField(o.Object, "metadata", "labels", "aim.eai.amd.com/service.name")
			}
		},
		StandIns: []reconciletest.StandIn{discovery, artifacts, keda, ready.Everything},
		Outlives: m.outlives,
		Accepted: []reconciletest.Acceptance{{
			About:  "steady state: change of AIMServiceTemplate.aim.eai.amd.com default/t",
			Reason: "the template derived while the user's template had another model remains; both are valid choices",
		}, {
			About:  "steady state: change of AIMServiceTemplate.aim.eai.amd.com default/fast",
			Reason: "a service keeps the template selected while the other template had another model",
		}},
		Cases: casesPerMode,
	}
}

// TestConverges checks in each mode that a service reaches its desired state despite failing requests, restarts and
// edits.
func TestConverges(t *testing.T) {
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			reconciletest.Converge(t, m.system(t))
		})
	}
}
