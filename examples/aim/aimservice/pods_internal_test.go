package aimservice

import (
	"errors"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
)

// First lines of expected children of a service chat with the UID u in the namespace ns.
const (
	isvcHead = `
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  namespace: ns
  name: ISVC
  labels:
    app.kubernetes.io/component: inference
    app.kubernetes.io/managed-by: aim-engine
    aim.eai.amd.com/service: chat
    aim.eai.amd.com/service.name: chat
    aim.eai.amd.com/model: qwen`
	routeHead = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  namespace: ns
  name: ROUTE
  labels:
    app.kubernetes.io/component: routing
    app.kubernetes.io/managed-by: aim-engine
    aim.eai.amd.com/service: chat
    aim.eai.amd.com/service.name: chat`
	// ours has the labels of children whose labels the product leaves to its controllers.
	ours = `app.kubernetes.io/managed-by: aim-service-controller, aim.eai.amd.com/service.name: chat`
	dshm = `{name: dshm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}`
)

// TestPods compares the fields of the children of a service with those of the product.
func TestPods(t *testing.T) {
	t.Parallel()
	const (
		hardware = `resolvedHardware: {gpu: {requests: 2}}`
		small    = `{spec: {modelName: qwen, metric: latency, precision: fp8, profileId: p1}, status: {status: Ready}}`
	)
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, "object")
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	isvcName, isvcErr := GenerateInferenceServiceName("chat", "ns")
	route, routeErr := GenerateHTTPRouteName("chat", "ns")
	shared, sharedErr := GenerateTemplateCacheName("t", "ns", "chat", "u", aimv1alpha1.CachingModeShared)
	dedicated, dedicatedErr := GenerateTemplateCacheName("t", "", "chat", "u", aimv1alpha1.CachingModeDedicated)
	if err := errors.Join(isvcErr, routeErr, sharedErr, dedicatedErr); err != nil {
		t.Fatal(err)
	}
	const derived = "t-derived"
	for name, test := range map[string]struct {
		labels    map[string]string
		service   string // spec of the service
		config    string
		template  string // the template that the service uses, or the base of a derived one
		cluster   bool   // the template is cluster-scoped
		modelName string // name of the existing model; empty: none
		cache     string
		want      []string
	}{
		"a model without weights": {
			service: `{model: {name: qwen}, template: {name: t}}`, template: small, modelName: "qwen",
			want: []string{isvcHead + `
    aim.eai.amd.com/template: t
    aim.eai.amd.com/metric: latency
    aim.eai.amd.com/precision: fp8
  annotations: {serving.kserve.io/autoscalerClass: none}
spec:
  predictor:
    minReplicas: 1
    maxReplicas: 1
    containers:
    - name: kserve-container
      image: image:1
      ports: [{name: http, containerPort: 8000, protocol: TCP}]
      env:
      - {name: AIM_CACHE_PATH, value: /workspace/cache}
      - {name: AIM_METRIC, value: latency}
      - {name: AIM_PRECISION, value: fp8}
      - {name: AIM_PROFILE_ID, value: p1}
      - {name: VLLM_ENABLE_METRICS, value: "true"}
      volumeMounts: [{name: dshm, mountPath: /dev/shm}]
    volumes: [` + dshm + `]`},
		},
		"everything": {
			labels: map[string]string{"team": "x", "other": "y", "aim.eai.amd.com/workload": "w", "aim.eai.amd.com/service": "not-me"},
			service: `
model: {name: qwen}
template: {name: t}
minReplicas: 2
maxReplicas: 4
autoScaling: {metrics: [{type: PodMetric, podmetric: {metric: {backend: opentelemetry, metricNames: [m], query: q}, target: {type: Value, value: "1"}}}]}
imagePullSecrets: [{name: pull}]
serviceAccountName: account
env: [{name: AIM_METRIC, value: service}, {name: AIM_ENGINE_ARGS, value: '{"c":3}'}]
resources: {requests: {cpu: 9}}
routing: {enabled: true, gatewayRef: {name: gw, namespace: gateways, sectionName: https}, pathTemplate: "/{.metadata.name}", requestTimeout: 90s}
storage: {defaultStorageClassName: fast}
`,
			config: `
labelPropagation: {enabled: true, match: [te*]}
routing: {annotations: {a: b}}
env: [{name: AIM_ENGINE_ARGS, value: '{"a":1}'}, {name: RUNTIME, value: r}, {name: AIM_METRIC, value: runtime}]
storage: {defaultStorageClassName: slow}
`,
			template: `
spec:
  modelName: qwen
  metric: throughput
  profileId: p1
  env: [{name: AIM_ENGINE_ARGS, value: '{"b":2}'}, {name: AIM_MODEL_ID, value: template}]
  resources: {requests: {memory: 100Gi}, limits: {memory: 200Gi}}
status:
  status: Ready
  modelSources: [{modelId: Org/M, sourceUri: "hf://Org/M"}]
  resolvedNodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: Exists}]}]}}
  ` + hardware,
			modelName: "qwen",
			cache: `
spec: {templateName: t, templateScope: Namespace, mode: Shared}
status:
  status: Ready
  artifacts:
    b: {name: Art.B, model: Org/../M, status: Ready, persistentVolumeClaim: claim-b}
    a: {name: art-a, model: Org/M, status: Ready, persistentVolumeClaim: claim-a, mountPoint: /weights}
    c: {name: art-c, model: Org/C, status: Progressing, persistentVolumeClaim: claim-c}
`,
			want: []string{isvcHead + `
    aim.eai.amd.com/template: t
    aim.eai.amd.com/metric: throughput
    aim.eai.amd.com/workload: w
    team: x
  annotations:
    serving.kserve.io/autoscalerClass: keda
    sidecar.opentelemetry.io/inject: ISVC-predictor
    prometheus.kserve.io/port: "8000"
spec:
  predictor:
    minReplicas: 2
    maxReplicas: 4
    autoScaling: {metrics: [{type: PodMetric, podmetric: {metric: {backend: opentelemetry, metricNames: [m], query: q}, target: {type: Value, value: "1"}}}]}
    serviceAccountName: account
    imagePullSecrets: [{name: pull}]
    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: Exists}]}]}}}
    containers:
    - name: kserve-container
      image: image:1
      ports: [{name: http, containerPort: 8000, protocol: TCP}]
      env:
      - {name: AIM_CACHE_PATH, value: /workspace/cache}
      - {name: AIM_ENGINE_ARGS, value: '{"a":1,"b":2,"c":3}'}
      - {name: AIM_METRIC, value: service}
      - {name: AIM_MODEL_ID, value: Org/M}
      - {name: AIM_PROFILE_ID, value: p1}
      - {name: RUNTIME, value: r}
      - {name: VLLM_ENABLE_METRICS, value: "true"}
      resources:
        requests: {cpu: 9, memory: 100Gi, amd.com/gpu: 2}
        limits: {memory: 200Gi, amd.com/gpu: 2}
      volumeMounts:
      - {name: dshm, mountPath: /dev/shm}
      - {name: art-b, mountPath: /workspace/cache/Org/M}
      - {name: art-a, mountPath: /weights}
    volumes:
    - ` + dshm + `
    - {name: art-b, persistentVolumeClaim: {claimName: claim-b}}
    - {name: art-a, persistentVolumeClaim: {claimName: claim-a}}`, routeHead + `
    aim.eai.amd.com/workload: w
    team: x
  annotations: {a: b}
spec:
  parentRefs: [{name: gw, namespace: gateways, sectionName: https}]
  rules:
  - matches: [{path: {type: PathPrefix, value: /chat}}]
    filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}]
    backendRefs: [{kind: Service, name: ISVC-predictor, namespace: ns, port: 80}]
    timeouts: {request: 1m30s}`},
		},
		"an image without a model": {
			service: `{model: {image: "ghcr.io/silogen/llama-3-8b:v1.2.0"}, runtimeConfigName: mine, serviceAccountName: account, imagePullSecrets: [{name: pull}],
				routing: {enabled: true, gatewayRef: {name: gw}}}`,
			want: []string{`
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMModel
metadata: {namespace: ns, name: llama-3-8b-v1-2-0-131a5f2e, labels: {` + ours + `, aim.eai.amd.com/origin: auto-generated}}
spec: {image: "ghcr.io/silogen/llama-3-8b:v1.2.0", runtimeConfigName: mine, serviceAccountName: account, imagePullSecrets: [{name: pull}]}`, routeHead + `
spec:
  parentRefs: [{name: gw}]
  rules:
  - matches: [{path: {type: PathPrefix, value: /ns/u}}]
    filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}]
    backendRefs: [{kind: Service, name: ISVC-predictor, namespace: ns, port: 80}]`},
		},
		"a custom model that does not exist yet": {
			service: `{model: {custom: {baseImage: "ghcr.io/silogen/aim-base:0.7.0", modelSources: [{modelId: Qwen/Qwen3-32B, sourceUri: "hf://Qwen/Qwen3-32B"}],
				hardware: {gpu: {requests: 1}}}}}`,
			want: []string{`
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMModel
metadata:
  namespace: ns
  name: qwen-qwen3-32b-f6b5d1c9
  labels: {` + ours + `, aim.eai.amd.com/origin: auto-generated, aim.eai.amd.com/custom-model: "true", aim.eai.amd.com/service: chat}
spec:
  image: ghcr.io/silogen/aim-base:0.7.0
  modelSources: [{modelId: Qwen/Qwen3-32B, sourceUri: "hf://Qwen/Qwen3-32B"}]
  custom: {hardware: {gpu: {requests: 1}}}`},
		},
		"a shared cache that does not exist yet": {
			service: `{model: {name: qwen}, template: {name: t}, env: [{name: A, value: service}], storage: {defaultStorageClassName: fast}}`,
			config:  `{storage: {defaultStorageClassName: slow}, env: [{name: B, value: runtime}]}`,
			template: `
spec: {modelName: qwen, env: [{name: A, value: template}, {name: B, value: template}], caching: {enabled: true, env: [{name: B, value: caching}]}}
status: {status: Ready, modelSources: [{modelId: Org/M, sourceUri: "hf://Org/M"}]}`, modelName: "qwen",
			want: []string{`
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMTemplateCache
metadata: {namespace: ns, name: SHARED, labels: {` + ours + `, aim.eai.amd.com/service: chat}}
spec:
  templateName: t
  templateScope: Namespace
  mode: Shared
  storageClassName: fast
  env: [{name: A, value: service}, {name: B, value: caching}]`},
		},
		"a dedicated cache for a template of the cluster": {
			service:  `{model: {name: qwen}, template: {name: t}, caching: {mode: Dedicated}}`,
			config:   `{storage: {defaultStorageClassName: slow}}`,
			template: `{spec: {modelName: qwen}, status: {status: Ready, modelSources: [{modelId: Org/M, sourceUri: "hf://Org/M"}]}}`,
			cluster:  true, modelName: "qwen",
			want: []string{`
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMTemplateCache
metadata: {namespace: ns, name: DEDICATED, labels: {` + ours + `, aim.eai.amd.com/service: chat}}
spec: {templateName: t, templateScope: Cluster, mode: Dedicated, storageClassName: slow}`},
		},
		"overrides": {
			service: `
model: {name: qwen}
template: {name: t}
overrides: {metric: throughput, precision: fp16, hardware: {gpu: {model: MI300X, requests: 8}}}
imagePullSecrets: [{name: pull}]
resources: {requests: {cpu: 9}}
`,
			template: `
spec:
  modelName: qwen
  metric: latency
  precision: fp8
  profileId: p1
  env: [{name: A, value: template}]
  hardware: {cpu: {requests: 4}, gpu: {requests: 1}}
  resources: {requests: {cpu: 1}}
status: {status: Ready}`, modelName: "qwen",
			want: []string{`
apiVersion: aim.eai.amd.com/v1alpha1
kind: AIMServiceTemplate
metadata: {namespace: ns, name: DERIVED, labels: {` + ours + `, aim.eai.amd.com/service: chat}}
spec:
  modelName: qwen
  runtimeConfigName: default
  metric: throughput
  precision: fp16
  env: [{name: A, value: template}]
  hardware: {cpu: {requests: 4}, gpu: {model: MI300X, requests: 8}}
  resources: {requests: {cpu: 9}}
  imagePullSecrets: [{name: pull}]
  caching: {enabled: true}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := &aimv1alpha1.AIMService{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "chat", UID: "u", Labels: test.labels}}
			read(t, test.service, &service.Spec)
			config := &aimv1alpha1.AIMRuntimeConfigCommon{}
			read(t, test.config, config)
			f := ServiceFetchResult{runtimeConfig: runtimeconfig.Result{Name: runtimeconfig.Default, Merged: config}, isvcName: isvcName}
			f.isvc.Error, f.route.Error, f.templates.derived.Error = missing, missing, missing
			f.models = fetchModel(t.Context(), reader(t), service)
			if test.modelName != "" {
				f.models = ModelFetchResult{}
				f.models.Model.Value = aModel(test.modelName, "image:1", aimv1alpha1.AIMStatusReady)
			}
			base := &aimv1alpha1.AIMServiceTemplate{ObjectMeta: in("ns", "t")}
			read(t, test.template, base)
			f.templates.Template.Value = base
			if test.cluster {
				f.templates.Template.Value, f.templates.ClusterTemplate.Value = nil, &aimv1alpha1.AIMClusterServiceTemplate{
					ObjectMeta: in("", "t"), Status: base.Status,
					Spec: aimv1alpha1.AIMClusterServiceTemplateSpec{AIMServiceTemplateSpecCommon: base.Spec.AIMServiceTemplateSpecCommon},
				}
			}
			if service.Spec.Overrides != nil {
				f.templates.derivedName = derived
			}
			f.caches.Value = &aimv1alpha1.AIMTemplateCacheList{}
			if test.cache != "" {
				cache := aCache("c", func(c *aimv1alpha1.AIMTemplateCache) { read(t, test.cache, c) })
				f.caches.Value.Items = append(f.caches.Value.Items, cache)
			}
			r, rc := &ServiceReconciler{}, rcontext{Object: service}
			plan, err := r.PlanResources(t.Context(), rc, r.ComposeState(t.Context(), rc, f))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("ISVC", isvcName, "ROUTE", route, "SHARED", shared, "DEDICATED", dedicated, "DERIVED", derived)
			if diff := expect.Children(t, scheme, want.Replace(strings.Join(test.want, "\n---\n")), typed(t, scheme, plan)); diff != "" {
				t.Errorf("children (-want +got):\n%s", diff)
			}
		})
	}
}

// typed returns the plan with the kind set in each child, which the engine derives from the scheme.
func typed(t *testing.T, scheme *runtime.Scheme, plan reconcile.PlanResult) reconcile.PlanResult {
	t.Helper()
	for i := range plan.Children {
		kind, err := apiutil.GVKForObject(plan.Children[i].Object, scheme)
		if err != nil {
			t.Fatal(err)
		}
		plan.Children[i].Object.GetObjectKind().SetGroupVersionKind(kind)
	}
	return plan
}

// read decodes a YAML document into a value.
func read(t *testing.T, document string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
		t.Fatalf("read %s: %v", document, err)
	}
}
