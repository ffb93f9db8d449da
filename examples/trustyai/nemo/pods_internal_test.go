package nemo

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

// scriptOf returns the command of the init container for some files.
func scriptOf(paths string) string {
	return strings.ReplaceAll(`
        : > TARGET
        for file_path in `+paths+`; do
          if [ -f "$file_path" ]; then
            cat "$file_path" >> TARGET
            echo >> TARGET
          else
            echo "Warning: Certificate file $file_path not found" >&2
          fi
        done
`, "TARGET", "/tmp/ca-bundle-transfer//ca-certificates.crt")
}

func found(names ...string) map[string]reconcile.FetchResult[*corev1.ConfigMap] {
	out := map[string]reconcile.FetchResult[*corev1.ConfigMap]{}
	for _, name := range names {
		out[name] = reconcile.FetchResult[*corev1.ConfigMap]{Value: &corev1.ConfigMap{Data: map[string]string{"b": "2", "a": "1"}}}
	}
	return out
}

// TestPods compares the Deployment with that of the product.
func TestPods(t *testing.T) {
	t.Parallel()
	const labels = `{app: ng, component: ng, deploy-name: ng, app.kubernetes.io/instance: ng, app.kubernetes.io/name: ng,
      app.kubernetes.io/part-of: trustyai}`
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	for name, test := range map[string]struct {
		spec, want string
		auth       bool
		files      []string
	}{
		"a server": {
			spec:  `{nemoConfigs: [{name: c, configMaps: [cm]}], replicas: 2}`,
			files: []string{"cm"},
			want: `
replicas: 2
selector: {matchLabels: {app: ng}}
template:
  metadata:
    labels: ` + labels + `
    annotations: {trustyai.opendatahub.io/nemo-config-hash: ` + hash("cma1b2") + `}
  spec:
    initContainers:
    - name: ca-bundle-initializer
      image: nemo:1
      command:
      - /bin/sh
      - -c
      - |` + scriptOf(`"/tmp/openshift-serving-ca-bundle//service-ca.crt"`) + `
      securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: [ALL]}}
      volumeMounts:
      - {name: ca-bundle-transfer, mountPath: /tmp/ca-bundle-transfer/}
      - {name: ng-ca-bundle-vol, mountPath: /tmp/openshift-serving-ca-bundle/, readOnly: true}
    containers:
    - name: nemo-guardrails
      image: nemo:1
      env:
      - {name: CONFIG_ID, value: c}
      - {name: SSL_CERT_FILE, value: /etc/ssl/certs/ca-certificates.crt}
      ports: [{containerPort: 8000, protocol: TCP}]
      readinessProbe: {httpGet: {path: /, port: 8000},
        initialDelaySeconds: 5, timeoutSeconds: 2, periodSeconds: 5, successThreshold: 1, failureThreshold: 12}
      volumeMounts:
      - {name: ca-bundle-transfer, mountPath: /etc/ssl/certs/, readOnly: true}
      - {name: c-volume, mountPath: /app/config/c, readOnly: true}
    volumes:
    - {name: tls-certs, secret: {secretName: ng-tls, defaultMode: 420}}
    - {name: ca-bundle-transfer, emptyDir: {}}
    - {name: c-volume, projected: {sources: [{configMap: {name: cm}}]}}
    - {name: ng-ca-bundle-vol, configMap: {name: ng-ca-bundle, defaultMode: 420}}
`,
		},
		"everything": {
			auth: true,
			spec: `
nemoConfigs: [{name: c, configMaps: [cm, more]}, {name: d, configMaps: [cm], default: true}]
caBundleConfig: {configMapName: mine, configMapKeys: [x.crt, y.crt]}
env: [{name: MINE, value: x}]
template: {pod: {affinity: {nodeAffinity: {}}, tolerations: [{key: t}], nodeSelector: {a: b}}}
`,
			files: []string{"cm", "more", "odh-trusted-ca-bundle", "mine"},
			want: `
replicas: 1
selector: {matchLabels: {app: ng}}
template:
  metadata:
    labels: ` + labels + `
    annotations: {trustyai.opendatahub.io/nemo-config-hash: ` + hash("cma1b2morea1b2cma1b2") + `}
  spec:
    serviceAccountName: ng-serviceaccount
    affinity: {nodeAffinity: {}}
    tolerations: [{key: t}]
    nodeSelector: {a: b}
    initContainers:
    - name: ca-bundle-initializer
      image: nemo:1
      command:
      - /bin/sh
      - -c
      - |` + scriptOf(`"/tmp/odh-trusted-ca-bundle//ca-bundle.crt" "/tmp/openshift-serving-ca-bundle//service-ca.crt" `+
				`"/tmp/user-ca-bundle//x.crt" "/tmp/user-ca-bundle//y.crt"`) + `
      securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: {drop: [ALL]}}
      volumeMounts:
      - {name: ca-bundle-transfer, mountPath: /tmp/ca-bundle-transfer/}
      - {name: odh-trusted-ca-bundle-vol, mountPath: /tmp/odh-trusted-ca-bundle/, readOnly: true}
      - {name: ng-ca-bundle-vol, mountPath: /tmp/openshift-serving-ca-bundle/, readOnly: true}
      - {name: mine-vol, mountPath: /tmp/user-ca-bundle/, readOnly: true}
    containers:
    - name: nemo-guardrails
      image: nemo:1
      env:
      - {name: CONFIG_ID, value: d}
      - {name: SSL_CERT_FILE, value: /etc/ssl/certs/ca-certificates.crt}
      - {name: MINE, value: x}
      ports: [{containerPort: 8000, protocol: TCP}]
      readinessProbe: {httpGet: {path: /, port: 8000},
        initialDelaySeconds: 5, timeoutSeconds: 2, periodSeconds: 5, successThreshold: 1, failureThreshold: 12}
      volumeMounts:
      - {name: ca-bundle-transfer, mountPath: /etc/ssl/certs/, readOnly: true}
      - {name: c-volume, mountPath: /app/config/c, readOnly: true}
      - {name: d-volume, mountPath: /app/config/d, readOnly: true}
    - name: kube-rbac-proxy
      image: proxy:1
      args:
      - --secure-listen-address=0.0.0.0:8443
      - --upstream=http://localhost:8000/
      - --config-file=/etc/kube-rbac-proxy/config.yaml
      - --tls-cert-file=/etc/tls/private/tls.crt
      - --tls-private-key-file=/etc/tls/private/tls.key
      - --upstream-ca-file=/etc/ssl/certs/ca-certificates.crt
      - --proxy-endpoints-port=9444
      - --v=0
      ports: [{name: https, containerPort: 8443, protocol: TCP}, {name: proxy-healthz, containerPort: 9444, protocol: TCP}]
      readinessProbe: {httpGet: {path: /healthz, port: 9444, scheme: HTTPS},
        initialDelaySeconds: 5, periodSeconds: 5, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
      livenessProbe: {httpGet: {path: /healthz, port: 9444, scheme: HTTPS},
        initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
      resources: {limits: {cpu: 100m, memory: 64Mi}, requests: {cpu: 50m, memory: 32Mi}}
      volumeMounts:
      - {name: tls-certs, mountPath: /etc/tls/private, readOnly: true}
      - {name: kube-rbac-config, mountPath: /etc/kube-rbac-proxy, readOnly: true}
      - {name: ca-bundle-transfer, mountPath: /etc/ssl/certs/, readOnly: true}
    volumes:
    - {name: tls-certs, secret: {secretName: ng-tls, defaultMode: 420}}
    - {name: ca-bundle-transfer, emptyDir: {}}
    - {name: c-volume, projected: {sources: [{configMap: {name: cm}}, {configMap: {name: more}}]}}
    - {name: d-volume, projected: {sources: [{configMap: {name: cm}}]}}
    - {name: odh-trusted-ca-bundle-vol, configMap: {name: odh-trusted-ca-bundle, defaultMode: 420}}
    - {name: ng-ca-bundle-vol, configMap: {name: ng-ca-bundle, defaultMode: 420}}
    - {name: mine-vol, configMap: {name: mine, defaultMode: 420}}
    - {name: kube-rbac-config, configMap: {name: ng-rbac-proxy-config, defaultMode: 420}}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &v1alpha1.NemoGuardrails{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "ng"}}
			if test.auth {
				n.Annotations = map[string]string{proxy.EnableAuth: "TRUE"}
			}
			if err := yaml.UnmarshalStrict([]byte(test.spec), &n.Spec); err != nil {
				t.Fatal(err)
			}
			f := Fetched{files: found(test.files...)}
			f.settings.Value = &corev1.ConfigMap{Data: map[string]string{images.Nemo: "nemo:1", images.Proxy: "proxy:1"}}
			obs := (Reconciler{}).ComposeState(t.Context(), rcontext{Object: n}, f)
			if obs.waits != "" || obs.unset != nil {
				t.Fatalf("nothing is planned: %q, %v", obs.waits, obs.unset)
			}
			if diff := expect.Diff(t, test.want, obs.deployment().Spec); diff != "" {
				t.Errorf("Deployment (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAuthorities checks that a missing ConfigMap with certificates is reported with the message of the API server, as
// in the product.
func TestAuthorities(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files []string
		want  v1alpha1.CAStatus
	}{
		"all": {
			files: []string{"odh-trusted-ca-bundle", "mine"},
			want:  v1alpha1.CAStatus{ODHTrustedCAFound: true, OpenShiftServingCAFound: true, UserCAFound: new(true)},
		},
		"none": {want: v1alpha1.CAStatus{
			ODHTrustedCAError: `configmaps "odh-trusted-ca-bundle" not found`, OpenShiftServingCAFound: true,
			UserCAFound: new(false), UserCAError: `configmaps "mine" not found`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &v1alpha1.NemoGuardrails{ObjectMeta: metav1.ObjectMeta{Name: "ng"}}
			n.Spec.CABundleConfig = &v1alpha1.CABundleConfig{ConfigMapName: "mine"}
			obs := Observation{owner: n, fetched: Fetched{files: found(test.files...)}}
			if diff := cmp.Diff(&test.want, obs.authorities()); diff != "" {
				t.Errorf("certificates (-want +got):\n%s", diff)
			}
		})
	}
}
