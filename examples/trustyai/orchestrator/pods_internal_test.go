package orchestrator

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

const labels = `{app: o, component: o, deploy-name: o, app.kubernetes.io/instance: o, app.kubernetes.io/name: o,
      app.kubernetes.io/part-of: trustyai}`

// hardened is the security context of the containers.
const hardened = `{capabilities: {drop: [ALL]}, privileged: false, runAsNonRoot: true, readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false, seccompProfile: {type: RuntimeDefault}}`

// sidecarOf returns the proxy of a component.
func sidecarOf(part, port, upstream, health string) string {
	return `
    - name: kube-rbac-proxy-` + part + `
      image: proxy:1
      args:
      - --secure-listen-address=0.0.0.0:` + port + `
      - --upstream=` + upstream + `/
      - --config-file=/etc/kube-rbac-proxy/config.yaml
      - --tls-cert-file=/etc/tls/private/tls.crt
      - --tls-private-key-file=/etc/tls/private/tls.key
      - --upstream-ca-file=/etc/tls/ca/service-ca.crt
      - --proxy-endpoints-port=` + health + `
      - --v=0
      ports: [{name: https, containerPort: ` + port + `, protocol: TCP}, {name: proxy-healthz, containerPort: ` + health + `, protocol: TCP}]
      readinessProbe: {httpGet: {path: /healthz, port: ` + health + `, scheme: HTTPS},
        initialDelaySeconds: 5, periodSeconds: 5, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
      livenessProbe: {httpGet: {path: /healthz, port: ` + health + `, scheme: HTTPS},
        initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
      resources: {limits: {cpu: 100m, memory: 64Mi}, requests: {cpu: 50m, memory: 32Mi}}
      volumeMounts:
      - {name: tls-certs, mountPath: /etc/tls/private, readOnly: true}
      - {name: tls-ca-bundle, mountPath: /etc/tls/ca, readOnly: true}
      - {name: kube-rbac-proxy-` + part + `-config, mountPath: /etc/kube-rbac-proxy, readOnly: true}`
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestPods compares the Deployment, with each of its containers and their proxies, with that of the product.
func TestPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec, want string
		auth       bool
	}{
		"an orchestrator": {
			spec: `{replicas: 3, orchestratorConfig: config, otelExporter: {otlpProtocol: grpc}}`,
			want: `
replicas: 1
selector: {matchLabels: ` + labels + `}
template:
  metadata:
    labels: ` + labels + `
    annotations: {trustyai.opendatahub.io/orchestrator-config-hash: ` + hashOf("text of config") + `}
  spec:
    serviceAccountName: o-serviceaccount
    containers:
    - name: o
      image: orchestrator:1
      imagePullPolicy: Always
      command: [/app/bin/fms-guardrails-orchestr8]
      env:
      - {name: ORCHESTRATOR_CONFIG, value: /config/config.yaml}
      - {name: HTTP_PORT, value: "8032"}
      - {name: RUST_BACKTRACE, value: full}
      - {name: TLS_CERT_PATH, value: /etc/tls/private/tls.crt}
      - {name: TLS_KEY_PATH, value: /etc/tls/private/tls.key}
      - {name: RUST_LOG, value: info}
      - {name: OTEL_EXPORTER_OTLP_PROTOCOL, value: grpc}
      ports: [{name: https, containerPort: 8033, protocol: TCP}]
      readinessProbe: {httpGet: {path: /health, port: 8034}, initialDelaySeconds: 10, timeoutSeconds: 10, periodSeconds: 20}
      resources: {limits: {cpu: 1, memory: 2Gi}, requests: {cpu: 1, memory: 2Gi}}
      securityContext: ` + hardened + `
      volumeMounts:
      - {name: o-config, mountPath: /config, readOnly: true}
      - {name: tls-certs, mountPath: /etc/tls/private, readOnly: true}
      - {name: tls-ca-bundle, mountPath: /etc/tls/ca, readOnly: true}
    volumes:
    - {name: o-config, configMap: {name: config, defaultMode: 420}}
    - {name: tls-certs, secret: {secretName: o-tls, defaultMode: 420}}
    - {name: tls-ca-bundle, configMap: {name: o-ca-bundle, defaultMode: 420}}
`,
		},
		"everything": {
			auth: true,
			spec: `
orchestratorConfig: config
guardrailsGatewayConfig: gateway
enableGuardrailsGateway: true
enableBuiltInDetectors: true
customDetectorsConfig: custom
logLevel: debug
tlsSecrets: [mine]
env: [{name: MINE, value: x}]
otelExporter: {otlpProtocol: http, otlpTracesEndpoint: "t:1", otlpMetricsEndpoint: "m:1", enableTraces: true, enableMetrics: true}
`,
			want: `
replicas: 1
selector: {matchLabels: ` + labels + `}
template:
  metadata:
    labels: ` + labels + `
    annotations:
      trustyai.opendatahub.io/orchestrator-config-hash: ` + hashOf("text of config") + `
      trustyai.opendatahub.io/orchestrator-gateway-config-hash: ` + hashOf("text of gateway") + `
  spec:
    serviceAccountName: o-serviceaccount
    containers:
    - name: o
      image: orchestrator:1
      imagePullPolicy: Always
      command: [/app/bin/fms-guardrails-orchestr8]
      env:
      - {name: ORCHESTRATOR_CONFIG, value: /config/config.yaml}
      - {name: HTTP_PORT, value: "8032"}
      - {name: RUST_BACKTRACE, value: full}
      - {name: TLS_CERT_PATH, value: /etc/tls/private/tls.crt}
      - {name: TLS_KEY_PATH, value: /etc/tls/private/tls.key}
      - {name: RUST_LOG, value: debug}
      - {name: OTEL_EXPORTER_OTLP_PROTOCOL, value: http}
      - {name: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, value: "t:1"}
      - {name: OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, value: "m:1"}
      - {name: OTLP_EXPORT, value: "traces,metrics"}
      - {name: MINE, value: x}
      ports: [{name: https, containerPort: 8032, protocol: TCP}]
      readinessProbe: {httpGet: {path: /health, port: 8034}, initialDelaySeconds: 10, timeoutSeconds: 10, periodSeconds: 20}
      resources: {limits: {cpu: 1, memory: 2Gi}, requests: {cpu: 1, memory: 2Gi}}
      securityContext: ` + hardened + `
      volumeMounts:
      - {name: o-config, mountPath: /config, readOnly: true}
      - {name: tls-certs, mountPath: /etc/tls/private, readOnly: true}
      - {name: tls-ca-bundle, mountPath: /etc/tls/ca, readOnly: true}
      - {name: mine-vol, mountPath: /etc/tls/mine, readOnly: true}` +
				sidecarOf("orchestrator", "8432", "https://o-service.ns.svc:8032", "9443") + `
    - name: o-gateway
      image: gateway:1
      command: [/app/bin/vllm-orchestrator-gateway]
      env:
      - {name: GATEWAY_CONFIG, value: /config/config.yaml}
      - {name: RUST_LOG, value: debug}
      - {name: GATEWAY_USE_MTLS, value: "false"}
      - {name: MINE, value: x}
      securityContext: ` + hardened + `
      volumeMounts:
      - {name: o-sidecar-gateway-config, mountPath: /config/config.yaml, subPath: config.yaml, readOnly: true}
      - {name: tls-certs, mountPath: /etc/tls/private, readOnly: true}
      - {name: tls-ca-bundle, mountPath: /etc/tls/ca, readOnly: true}` +
				sidecarOf("gateway", "8490", "http://localhost:8090", "9444") + `
    - name: o-detectors
      image: detectors:1
      command: [/app/bin/regex-detector]
      env: [{name: MINE, value: x}]
      ports: [{name: built-in, containerPort: 8080, protocol: TCP}]
      securityContext: ` + hardened + `
      volumeMounts:
      - {name: custom-detectors-config, mountPath: /app/custom_detectors/custom_detectors.py, subPath: custom_detectors.py, readOnly: true}` +
				sidecarOf("built-in", "8480", "http://localhost:8080", "9445") + `
    volumes:
    - {name: o-config, configMap: {name: config, defaultMode: 420}}
    - {name: o-sidecar-gateway-config, configMap: {name: gateway, defaultMode: 420}}
    - {name: tls-certs, secret: {secretName: o-tls, defaultMode: 420}}
    - {name: tls-ca-bundle, configMap: {name: o-ca-bundle, defaultMode: 420}}
    - {name: kube-rbac-proxy-orchestrator-config, configMap: {name: o-kube-rbac-proxy-orchestrator-config, defaultMode: 420}}
    - {name: kube-rbac-proxy-gateway-config, configMap: {name: o-kube-rbac-proxy-gateway-config, defaultMode: 420}}
    - {name: kube-rbac-proxy-built-in-config, configMap: {name: o-kube-rbac-proxy-built-in-config, defaultMode: 420}}
    - {name: custom-detectors-config, configMap: {name: custom, defaultMode: 420}}
    - {name: mine-vol, secret: {secretName: mine, defaultMode: 420}}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &v1alpha1.GuardrailsOrchestrator{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "o"}}
			if test.auth {
				o.Annotations = map[string]string{proxy.EnableAuth: "true"}
			}
			if err := yaml.UnmarshalStrict([]byte(test.spec), &o.Spec); err != nil {
				t.Fatal(err)
			}
			var f Fetched
			f.settings.Value = &corev1.ConfigMap{Data: map[string]string{
				images.Orchestrator: "orchestrator:1", images.Gateway: "gateway:1", images.Detectors: "detectors:1", images.Proxy: "proxy:1",
			}}
			f.config.Value = &corev1.ConfigMap{Data: map[string]string{"config.yaml": "text of config"}}
			f.gateway.Value = &corev1.ConfigMap{Data: map[string]string{"config.yaml": "text of gateway"}}
			f.secrets = map[string]reconcile.FetchResult[*corev1.Secret]{"mine": {Value: &corev1.Secret{}}}
			obs := (Reconciler{}).ComposeState(t.Context(), rcontext{Object: o}, f)
			if obs.waits != "" || obs.unset != nil || obs.invalid != "" {
				t.Fatalf("nothing is planned: %q, %v, %q", obs.waits, obs.unset, obs.invalid)
			}
			if diff := expect.Diff(t, test.want, obs.deployment().Spec); diff != "" {
				t.Errorf("Deployment (-want +got):\n%s", diff)
			}
		})
	}
}
