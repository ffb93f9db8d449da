package tenant

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// platformSet has the labels of all objects of the platform, elsewhereSet those of objects outside the namespace of the
// tenant.
const (
	platformSet  = `app.opendatahub.io/modelsasservice: "true", app.kubernetes.io/part-of: models-as-a-service`
	elsewhereSet = `{` + platformSet + `, maas.opendatahub.io/tenant-name: default-tenant, maas.opendatahub.io/tenant-namespace: subs}`
)

// apiMetadata and gatewayMetadata return the metadata of an object in the namespace of the API and in that of the
// gateway.
func apiMetadata(name string) string {
	return `{namespace: app, name: ` + name + `, labels: ` + elsewhereSet
}

func gatewayMetadata(name string) string {
	return `{namespace: gateways, name: ` + name + `, labels: ` + elsewhereSet + `}`
}

const confined = `{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}`

// workloads are the objects of the platform that run or reach pods.
var workloads = []string{`
apiVersion: v1
kind: ServiceAccount
metadata: ` + apiMetadata("maas-api") + `}`, `
apiVersion: v1
kind: Service
metadata: ` + apiMetadata("maas-api") + `, annotations: {service.beta.openshift.io/serving-cert-secret-name: maas-api-serving-cert}}
spec:
  selector: {app.kubernetes.io/name: maas-api}
  ports: [{name: https, port: 8443, targetPort: 8443, protocol: TCP}]`, `
apiVersion: apps/v1
kind: Deployment
metadata: ` + apiMetadata("maas-api") + `}
spec:
  replicas: 1
  selector: {matchLabels: {app.kubernetes.io/name: maas-api}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: maas-api}
      annotations: {app.opendatahub.io/maas-config-hash: HASH}
    spec:
      serviceAccountName: maas-api
      securityContext: {runAsNonRoot: true}
      containers:
      - name: maas-api
        image: api:1
        ports: [{name: https, containerPort: 8443, protocol: TCP}]
        env:
        - {name: NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: DB_CONNECTION_URL, valueFrom: {secretKeyRef: {name: maas-db-config, key: DB_CONNECTION_URL}}}
        - {name: MAAS_SUBSCRIPTION_NAMESPACE, valueFrom: {configMapKeyRef: {name: maas-parameters, key: subscription-namespace}}}
        - {name: GATEWAY_NAME, valueFrom: {configMapKeyRef: {name: maas-parameters, key: gateway-name}}}
        - {name: GATEWAY_NAMESPACE, valueFrom: {configMapKeyRef: {name: maas-parameters, key: gateway-namespace}}}
        - name: API_KEY_MAX_EXPIRATION_DAYS
          valueFrom: {configMapKeyRef: {name: maas-parameters, key: api-key-max-expiration-days, optional: true}}
        - {name: TLS_CERT, value: /etc/maas-api/tls/tls.crt}
        - {name: TLS_KEY, value: /etc/maas-api/tls/tls.key}
        readinessProbe: {httpGet: {path: /health, port: https, scheme: HTTPS}}
        livenessProbe: {httpGet: {path: /health, port: https, scheme: HTTPS}}
        resources: {requests: {cpu: 50m, memory: 64Mi}}
        securityContext: ` + confined + `
        volumeMounts: [{name: serving-cert, mountPath: /etc/maas-api/tls, readOnly: true}]
      volumes: [{name: serving-cert, secret: {secretName: maas-api-serving-cert}}]`, `
apiVersion: batch/v1
kind: CronJob
metadata: ` + apiMetadata("maas-api-key-cleanup") + `}
spec:
  schedule: "*/15 * * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 1
      template:
        metadata: {labels: {app.kubernetes.io/name: maas-api-key-cleanup}}
        spec:
          restartPolicy: Never
          containers:
          - name: cleanup
            image: minimal:1
            command: [curl, --fail, --silent, --insecure, --request, POST, "https://maas-api:8443/internal/v1/api-keys/cleanup"]
            securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: [ALL]}}`, `
apiVersion: v1
kind: ServiceAccount
metadata: ` + gatewayMetadata("payload-processing"), `
apiVersion: v1
kind: Service
metadata: ` + gatewayMetadata("payload-processing") + `
spec:
  selector: {app.kubernetes.io/name: payload-processing}
  ports: [{port: 9004, targetPort: 9004, protocol: TCP, appProtocol: kubernetes.io/h2c}]`, `
apiVersion: apps/v1
kind: Deployment
metadata: ` + gatewayMetadata("payload-processing") + `
spec:
  replicas: 1
  selector: {matchLabels: {app.kubernetes.io/name: payload-processing}}
  template:
    metadata: {labels: {app.kubernetes.io/name: payload-processing}}
    spec:
      serviceAccountName: payload-processing
      securityContext: {runAsNonRoot: true}
      containers:
      - name: payload-processing
        image: processing:1
        ports: [{name: grpc, containerPort: 9004, protocol: TCP}]
        securityContext: ` + confined + `
        volumeMounts: [{name: plugins, mountPath: /etc/payload-processing, readOnly: true}]
      volumes: [{name: plugins, configMap: {name: payload-processing-plugins}}]`}

// routes are the objects that configure routing and access.
var routes = []string{`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: ` + apiMetadata("maas-api-route") + `}
spec:
  parentRefs: [{name: gate, namespace: gateways}]
  rules:
  - matches: [{path: {type: PathPrefix, value: /v1/models}}]
    backendRefs: [{name: maas-api, port: 8443}]
  - matches: [{path: {type: PathPrefix, value: /maas-api}}]
    filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}]
    backendRefs: [{name: maas-api, port: 8443}]`, `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: ` + apiMetadata("maas-api-cleanup-restrict") + `}
spec:
  podSelector: {matchLabels: {app.kubernetes.io/name: maas-api-key-cleanup}}
  policyTypes: [Ingress, Egress]
  egress:
  - to: [{podSelector: {matchLabels: {app.kubernetes.io/name: maas-api}}}]
    ports: [{port: 8443, protocol: TCP}]
  - ports: [{port: 53, protocol: UDP}, {port: 5353, protocol: UDP}]`, `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: ` + apiMetadata("maas-authorino-allow") + `}
spec:
  podSelector: {matchLabels: {app.kubernetes.io/name: maas-api}}
  policyTypes: [Ingress]
  ingress:
  - from: [{namespaceSelector: {}, podSelector: {matchLabels: {authorino-resource: authorino}}}]
    ports: [{port: 8443, protocol: TCP}]
  - from: [{podSelector: {}}]
  - from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: gateways}}}]
    ports: [{port: 8443, protocol: TCP}]`, `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: ` + gatewayMetadata("maas-api-backend-tls") + `
spec: {host: maas-api.app.svc.cluster.local, trafficPolicy: {tls: {mode: SIMPLE, insecureSkipVerify: true}}}`, `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: ` + gatewayMetadata("payload-processing") + `
spec: {host: payload-processing, trafficPolicy: {tls: {mode: SIMPLE, insecureSkipVerify: true}}}`, `
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: ` + gatewayMetadata("payload-processing") + `
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: gate}]
  configPatches:
  - applyTo: HTTP_FILTER
    match:
      context: GATEWAY
      listener:
        filterChain:
          filter:
            name: envoy.filters.network.http_connection_manager
            subFilter: {name: extensions.istio.io/wasmplugin/kuadrant}
    patch:
      operation: INSERT_AFTER
      value:
        name: envoy.filters.http.ext_proc.payload-processing
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor
          failure_mode_allow: false
          processing_mode:
            request_header_mode: SEND
            request_body_mode: FULL_DUPLEX_STREAMED
            request_trailer_mode: SEND
            response_header_mode: SEND
            response_body_mode: FULL_DUPLEX_STREAMED
            response_trailer_mode: SEND
          grpc_service: {envoy_grpc: {cluster_name: outbound|9004||payload-processing.gateways.svc.cluster.local}}`, `
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: ` + gatewayMetadata("gateway-default-auth") + `
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gate}
  defaults: {rules: {authorization: {deny-all: {opa: {rego: allow = false}, priority: 0}}}}`, `
apiVersion: kuadrant.io/v1alpha1
kind: TokenRateLimitPolicy
metadata: ` + gatewayMetadata("gateway-default-deny") + `
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gate}
  defaults:
    limits:
      deny-by-default:
        rates: [{limit: 0, window: 1m}]
        when: [{predicate: '!request.path.endsWith("/v1/models")'}]
        counters: [{expression: auth.identity.userid}]`}

// bindings are the objects that grant permissions to the workloads of the platform.
var bindings = []string{
	binding("maas-api", "maas-api", "app"), binding("maas-api-supplemental", "maas-api", "app"),
	binding("payload-processing-reader", "payload-processing", "gateways"),
}

func binding(role, account, namespace string) string {
	return `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ` + role + `, labels: ` + elsewhereSet + `}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ` + role + `}
subjects: [{kind: ServiceAccount, name: ` + account + `, namespace: ` + namespace + `}]`
}

// settled returns settings that differ from all defaults.
func settled() settings {
	return settings{
		Tenant: models.Key("subs", "default-tenant"), App: "app", Gateway: models.Key("gateways", "gate"), Audience: "https://issuer",
		Images: map[string]string{
			"maas-api-image": "api:1", "maas-api-key-cleanup-image": "minimal:1", "payload-processing-image": "processing:1",
		},
	}
}

func rendered(t *testing.T, s settings) []manifests.Object {
	t.Helper()
	r, err := newRenderer("")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := r.render(s)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestPods compares the workloads, the access rules and the namespaces of the platform with those of the product.
func TestPods(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := models.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	compared := []string{
		"ServiceAccount", "Service", "Deployment", "CronJob", "HTTPRoute", "NetworkPolicy", "DestinationRule", "EnvoyFilter",
		"TokenRateLimitPolicy",
		"ClusterRoleBinding",
	}
	objects := rendered(t, settled())
	hash := ""
	got := slices.DeleteFunc(slices.Clone(objects), func(o manifests.Object) bool {
		if kindOf(o) == "Deployment" && o.GetName() == apiName {
			hash = hashOf(t, o)
		}
		return !slices.Contains(compared, kindOf(o)) && o.GetName() != "gateway-default-auth"
	})
	want := strings.ReplaceAll(strings.Join(slices.Concat(workloads, routes, bindings), "\n---\n"), "HASH", paramsHash(t, objects))
	if diff := expect.Objects(t, scheme, want, got...); diff != "" {
		t.Errorf("platform (-want +got):\n%s", diff)
	}
	other := settled()
	other.Gateway.Name = "other"
	for _, o := range rendered(t, other) {
		if kindOf(o) == "Deployment" && o.GetName() == apiName && hashOf(t, o) == hash {
			t.Error("the API does not restart when parameters change")
		}
	}
}

// TestPlatform checks that the platform has the product's 27 objects, and two more with telemetry.
func TestPlatform(t *testing.T) {
	t.Parallel()
	want := []string{
		"AuthPolicy app/maas-api-auth-policy",
		"AuthPolicy gateways/gateway-default-auth",
		"ClusterRole /maas-api",
		"ClusterRole /maas-api-supplemental",
		"ClusterRole /payload-processing-reader",
		"ClusterRoleBinding /maas-api",
		"ClusterRoleBinding /maas-api-supplemental",
		"ClusterRoleBinding /payload-processing-reader",
		"ConfigMap app/maas-parameters",
		"ConfigMap app/prometheus-web-tls-ca",
		"ConfigMap gateways/payload-processing-plugins",
		"CronJob app/maas-api-key-cleanup",
		"Deployment app/maas-api",
		"Deployment gateways/payload-processing",
		"DestinationRule gateways/maas-api-backend-tls",
		"DestinationRule gateways/payload-processing",
		"EnvoyFilter gateways/payload-processing",
		"HTTPRoute app/maas-api-route",
		"NetworkPolicy app/maas-api-cleanup-restrict",
		"NetworkPolicy app/maas-authorino-allow",
		"PersesDashboard app/maas-usage",
		"PersesDatasource app/maas-prometheus",
		"Service app/maas-api",
		"Service gateways/payload-processing",
		"ServiceAccount app/maas-api",
		"ServiceAccount gateways/payload-processing",
		"TokenRateLimitPolicy gateways/gateway-default-deny",
	}
	s := settled()
	if diff := cmp.Diff(want, names(rendered(t, s))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	s.Telemetry = &maasv1alpha1.TenantTelemetry{}
	more := []string{"Telemetry gateways/latency-per-subscription", "TelemetryPolicy gateways/maas-telemetry"}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(want, more...))), names(rendered(t, s))); diff != "" {
		t.Errorf("objects with telemetry (-want +got):\n%s", diff)
	}
}

// paramsHash computes the hash of the parameters as the product does.
func paramsHash(t *testing.T, objects []manifests.Object) (hash string) {
	t.Helper()
	for _, o := range objects {
		if kindOf(o) != "ConfigMap" || o.GetName() != paramsName {
			continue
		}
		if err := manifests.Change(o, func(config *corev1.ConfigMap) {
			sum := sha256.Sum256([]byte(linesOf(config.Data)))
			hash = hex.EncodeToString(sum[:])
		}); err != nil {
			t.Fatal(err)
		}
	}
	return hash
}

// hashOf returns the parameter hash in the pod template of a Deployment.
func hashOf(t *testing.T, object manifests.Object) (hash string) {
	t.Helper()
	err := manifests.Change(object, func(d *appsv1.Deployment) { hash = d.Spec.Template.Annotations[configHash] })
	if err != nil || len(hash) != 64 {
		t.Fatalf("hash %q, want one of 64 characters: %v", hash, err)
	}
	return hash
}

// TestServices checks that the page lists the Services of the platform with their ports.
func TestServices(t *testing.T) {
	t.Parallel()
	var got []dataflow.Service
	for _, o := range rendered(t, settled()) {
		if kindOf(o) != "Service" {
			continue
		}
		err := manifests.Change(o, func(s *corev1.Service) {
			for _, port := range s.Spec.Ports {
				got = append(got, dataflow.Service{Name: s.Name, Port: port.Port, PortName: port.Name})
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(Services(), got); diff != "" {
		t.Errorf("Services (-page +platform):\n%s", diff)
	}
}

func names(objects []manifests.Object) []string {
	out := make([]string, 0, len(objects))
	for _, o := range objects {
		out = append(out, kindOf(o)+" "+o.GetNamespace()+"/"+o.GetName())
	}
	slices.Sort(out)
	return out
}
