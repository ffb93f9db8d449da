package evalhub

import (
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// confined is the security context of each container.
const confined = `{allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}`

// before has what a proxy needs to know about its server.
type before struct{ upstream, health, tls, config, authority string }

// Servers with a proxy.
var (
	beforeHub = before{"http://127.0.0.1:8444", "/api/v1/health", "hub-tls", "evalhub-config", "service-ca"}
	beforeMCP = before{"http://127.0.0.1:8445", "/health", "hub-mcp-tls", "evalhub-mcp-config", "mcp-service-ca"}
)

// deploymentOf returns the expected Deployment. Its parameters are the fields of the server container, the volumes, and
// the differences of the proxy.
func deploymentOf(component, replicas, server, volumes string, proxy before) string {
	labels := `{app: eval-hub, instance: hub, component: ` + component + `}`
	return `
replicas: ` + replicas + `
selector: {matchLabels: ` + labels + `}
strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 25%}}
template:
  metadata: {labels: ` + labels + `}
  spec:
    serviceAccountName: hub-service
    securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
    containers:` + server + `
      securityContext: ` + confined + `
    - name: kube-rbac-proxy
      image: proxy:1
      args:
      - --secure-listen-address=0.0.0.0:8443
      - --upstream=` + proxy.upstream + `/
      - --config-file=/etc/kube-rbac-proxy/auth.yaml
      - --tls-cert-file=/etc/tls/private/tls.crt
      - --tls-private-key-file=/etc/tls/private/tls.key
      - --proxy-endpoints-port=9443
      - --v=0
      - --ignore-paths=` + proxy.health + `
      - --auth-header-fields-enabled
      - --auth-header-user-field-name=X-User
      ports: [{name: https, containerPort: 8443, protocol: TCP}, {name: proxy-healthz, containerPort: 9443, protocol: TCP}]
      livenessProbe: {httpGet: {path: /healthz, port: 9443, scheme: HTTPS},
        initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
      resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {cpu: 500m, memory: 512Mi}}
      securityContext: ` + confined + `
      volumeMounts:
      - {name: ` + proxy.tls + `, mountPath: /etc/tls/private, readOnly: true}
      - {name: ` + proxy.config + `, mountPath: /etc/kube-rbac-proxy/auth.yaml, subPath: auth.yaml, readOnly: true}
      - {name: ` + proxy.authority + `, mountPath: /etc/kube-rbac-proxy/upstream-ca, readOnly: true}
    volumes:` + volumes
}

// server returns the container of a hub, with additional variables, resources and mounts.
func server(env, resources, mounts string) string {
	return `
    - name: evalhub
      image: hub:1
      imagePullPolicy: Always
      ports: [{name: evalhub, containerPort: 8444, protocol: TCP}, {name: metrics, containerPort: 8081, protocol: TCP}]
      startupProbe: {httpGet: {path: /api/v1/health, port: 8443, scheme: HTTPS}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 30}
      readinessProbe: {httpGet: {path: /api/v1/health, port: 8443, scheme: HTTPS}, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3}
      resources: ` + resources + `
      env:` + env + `
      - {name: MAX_CONCURRENT_EVALUATIONS, value: "10"}
      - {name: DEFAULT_TIMEOUT_MINUTES, value: "60"}
      - {name: MAX_RETRY_ATTEMPTS, value: "3"}
      - {name: EVAL_HUB_CONFIG_DIR, value: /etc/evalhub/config}
      - {name: SERVICE_URL, value: "https://hub.ns.svc.cluster.local:8443"}
      - {name: EVALHUB_INSTANCE_NAME, value: hub}
      - {name: EVALHUB_HARDWARE_PROFILES_NAMESPACE, value: op}
      - {name: MLFLOW_CA_CERT_PATH, value: /etc/evalhub/mlflow-ca/ca-bundle.crt}
      - {name: MLFLOW_WORKSPACE, value: ns}
      - {name: MLFLOW_TOKEN_PATH, value: /var/run/secrets/mlflow/token}
      - {name: METRICS_PORT, value: "8081"}
      - {name: METRICS_HOST, value: 0.0.0.0}
      volumeMounts:
      - {name: evalhub-config, mountPath: /etc/evalhub/config, readOnly: true}
      - {name: service-ca, mountPath: /etc/evalhub/ca, readOnly: true}
      - {name: mlflow-ca-bundle, mountPath: /etc/evalhub/mlflow-ca, readOnly: true}
      - {name: mlflow-token, mountPath: /var/run/secrets/mlflow, readOnly: true}` + mounts
}

// hubVolumes are the volumes of each hub.
const hubVolumes = `
    - {name: evalhub-config, configMap: {name: hub-config, defaultMode: 420}}
    - {name: hub-tls, secret: {secretName: hub-tls, defaultMode: 420}}
    - {name: service-ca, configMap: {name: hub-service-ca, defaultMode: 420}}
    - {name: mlflow-ca-bundle, configMap: {name: hub-mlflow-ca-bundle, defaultMode: 420}}
    - {name: mlflow-token, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: token, expirationSeconds: 3600}}]}}`

// TestPods compares the Deployments of a hub and of its MCP server with those of the product.
func TestPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec     string
		settings map[string]string
		tenants  []string // ConfigMaps of the tenant, of each kind
		mcp      bool
		want     string
	}{
		"a hub": {
			spec: `{database: {type: sqlite}}`,
			want: deploymentOf("api", "1", server(`
      - {name: API_HOST, value: 127.0.0.1}
      - {name: PORT, value: "8444"}
      - {name: LOG_LEVEL, value: INFO}`, "{requests: {cpu: 500m, memory: 512Mi}, limits: {cpu: 2, memory: 2Gi}}", ""),
				hubVolumes, beforeHub),
		},
		"a hub with everything": {
			spec: `
replicas: 2
database: {type: postgresql, secret: db}
providers: [garak]
collections: [toxicity]
env: [{name: PORT, value: mine}, {name: LOG_LEVEL, value: DEBUG}, {name: MINE, value: x}, {name: TLS_CERT_FILE, value: mine}]
`,
			settings: map[string]string{"evalHubCPURequest": "1", "evalHubMemoryLimit": "none"},
			tenants:  []string{"mine"},
			want: deploymentOf("api", "2", server(`
      - {name: PORT, value: "8444"}
      - {name: LOG_LEVEL, value: DEBUG}
      - {name: MINE, value: x}
      - {name: API_HOST, value: 127.0.0.1}`, "{requests: {cpu: 1, memory: 512Mi}, limits: {cpu: 2, memory: 2Gi}}", `
      - {name: evalhub-providers, mountPath: /etc/evalhub/config/providers, readOnly: true}
      - {name: evalhub-providers-tenant, mountPath: /etc/evalhub/config/providers/tenant, readOnly: true}
      - {name: evalhub-collections, mountPath: /etc/evalhub/config/collections, readOnly: true}
      - {name: evalhub-collections-tenant, mountPath: /etc/evalhub/config/collections/tenant, readOnly: true}
      - {name: evalhub-db-secret, mountPath: /etc/evalhub/secrets, readOnly: true}`),
				hubVolumes+`
    - {name: evalhub-providers, projected: {defaultMode: 420, sources: [{configMap: {name: hub-provider-garak}}]}}
    - {name: evalhub-providers-tenant, projected: {defaultMode: 420, sources: [{configMap: {name: mine}}]}}
    - {name: evalhub-collections, projected: {defaultMode: 420, sources: [{configMap: {name: hub-collection-toxicity}}]}}
    - {name: evalhub-collections-tenant, projected: {defaultMode: 420, sources: [{configMap: {name: mine}}]}}
    - {name: evalhub-db-secret, secret: {secretName: db, defaultMode: 420, items: [{key: db-url, path: db-url}]}}`,
				beforeHub),
		},
		"an MCP server": {
			spec: `{database: {type: sqlite}, mcp: {enabled: true, authSecret: auth, transport: http, evalHubTransport: http-sse}}`,
			mcp:  true,
			want: deploymentOf("mcp", "1", `
    - name: evalhub-mcp
      image: hub:1
      command: [/app/evalhub-mcp]
      args: [--config, /etc/evalhub-mcp/config.yaml, --transport, http, --host, 127.0.0.1, --port, "8445", --auth-type, rbac-proxy]
      resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {cpu: 500m, memory: 256Mi}}
      env:
      - {name: EVALHUB_TRANSPORT, value: http-sse}
      - {name: EVALHUB_HOST, value: 127.0.0.1}
      - {name: EVALHUB_PORT, value: "8445"}
      - {name: EVALHUB_BASE_URL, value: "https://hub.ns.svc.cluster.local:8443"}
      - {name: EVALHUB_TENANT, value: ns}
      - {name: EVALHUB_CA_CERT_PATH, value: /etc/evalhub-mcp/ca/service-ca.crt}
      - {name: EVALHUB_INSECURE, value: "false"}
      - {name: EVALHUB_TOKEN, valueFrom: {secretKeyRef: {name: auth, key: token}}}
      volumeMounts:
      - {name: evalhub-mcp-config, mountPath: /etc/evalhub-mcp, readOnly: true}
      - {name: mcp-service-ca, mountPath: /etc/evalhub-mcp/ca, readOnly: true}`, `
    - {name: evalhub-mcp-config, configMap: {name: hub-mcp-config, defaultMode: 420}}
    - {name: hub-mcp-tls, secret: {secretName: hub-mcp-tls, defaultMode: 420}}
    - {name: mcp-service-ca, configMap: {name: hub-service-ca, defaultMode: 420}}`,
				beforeMCP),
		},
		"an MCP server of the user's": {
			spec: `{database: {type: sqlite}, mcp: {enabled: true, replicas: 3, image: "mine:1", resources: {limits: {cpu: 1}},
				env: [{name: EVALHUB_PORT, value: "1"}]}}`,
			mcp: true,
			want: deploymentOf("mcp", "3", `
    - name: evalhub-mcp
      image: mine:1
      command: [/app/evalhub-mcp]
      args: [--config, /etc/evalhub-mcp/config.yaml, --transport, http, --host, 127.0.0.1, --port, "8445", --auth-type, rbac-proxy]
      resources: {limits: {cpu: 1}}
      env:
      - {name: EVALHUB_PORT, value: "1"}
      - {name: EVALHUB_TRANSPORT, value: http}
      - {name: EVALHUB_HOST, value: 127.0.0.1}
      - {name: EVALHUB_BASE_URL, value: "https://hub.ns.svc.cluster.local:8443"}
      - {name: EVALHUB_TENANT, value: ns}
      - {name: EVALHUB_CA_CERT_PATH, value: /etc/evalhub-mcp/ca/service-ca.crt}
      - {name: EVALHUB_INSECURE, value: "false"}
      volumeMounts:
      - {name: evalhub-mcp-config, mountPath: /etc/evalhub-mcp, readOnly: true}
      - {name: mcp-service-ca, mountPath: /etc/evalhub-mcp/ca, readOnly: true}`, `
    - {name: evalhub-mcp-config, configMap: {name: hub-mcp-config, defaultMode: 420}}
    - {name: hub-mcp-tls, secret: {secretName: hub-mcp-tls, defaultMode: 420}}
    - {name: mcp-service-ca, configMap: {name: hub-service-ca, defaultMode: 420}}`,
				beforeMCP),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub := &v1.EvalHub{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hub", UID: "uid"}}
			if err := yaml.UnmarshalStrict([]byte(test.spec), &hub.Spec); err != nil {
				t.Fatal(err)
			}
			f := Fetched{catalogues: map[string]catalogue{}}
			data := map[string]string{images.EvalHub: "hub:1", images.Proxy: "proxy:1"}
			maps.Copy(data, test.settings)
			f.settings.Value = &corev1.ConfigMap{Data: data}
			for _, kind := range kinds {
				c := catalogue{system: map[string]*corev1.ConfigMap{"garak": {}, "toxicity": {}}}
				c.ofTenant.Value = &corev1.ConfigMapList{}
				for _, name := range test.tenants {
					c.ofTenant.Value.Items = append(c.ofTenant.Value.Items, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}})
				}
				f.catalogues[kind] = c
			}
			r := Reconciler{settings: types.NamespacedName{Namespace: "op", Name: "settings"}}
			obs := r.ComposeState(t.Context(), rcontext{Object: hub}, f)
			got := obs.deployment()
			if test.mcp {
				objects, err := obs.mcpObjects()
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range objects {
					if d, is := o.(*appsv1.Deployment); is {
						got = d
					}
				}
			}
			if diff := expect.Diff(t, test.want, got.Spec); diff != "" {
				t.Errorf("Deployment (-want +got):\n%s", diff)
			}
		})
	}
}
