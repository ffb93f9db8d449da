package tas

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// deploymentOf returns the expected Deployment, with the variables and mounts of the server, the additional mounts of
// the proxy, and the volumes.
func deploymentOf(env, mounts, proxyMounts, volumes string) string {
	const labels = `{
  app: s, app.kubernetes.io/instance: s, app.kubernetes.io/name: s, app.kubernetes.io/part-of: trustyai, app.kubernetes.io/version: 1.39.0}`
	return `
replicas: 1
strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}
selector:
  matchLabels: ` + labels + `
template:
  metadata:
    labels: ` + labels + `
    annotations: {prometheus.io/path: /q/metrics, prometheus.io/scheme: http, prometheus.io/scrape: "true"}
  spec:
    serviceAccountName: s-proxy
    containers:
    - name: trustyai-service
      image: service:1
      readinessProbe: {httpGet: {path: /q/health/ready, port: 8080}, initialDelaySeconds: 10, periodSeconds: 5, timeoutSeconds: 2}
      livenessProbe: {httpGet: {path: /q/health/live, port: 8080}, initialDelaySeconds: 10, periodSeconds: 5, timeoutSeconds: 2}
      env: ` + indent(env) + `
      volumeMounts:
      - {name: s-internal, mountPath: /etc/tls/internal}` + indent(mounts) + `
    - name: kube-rbac-proxy
      image: proxy:1
      args:
      - --secure-listen-address=0.0.0.0:8443
      - --upstream=http://127.0.0.1:8081/
      - --config-file=/etc/kube-rbac-proxy/config.yaml
      - --tls-cert-file=/etc/tls/private/tls.crt
      - --tls-private-key-file=/etc/tls/private/tls.key
      - --proxy-endpoints-port=9443
      - --v=0
      ports: [{name: https, containerPort: 8443, protocol: TCP}, {name: proxy-healthz, containerPort: 9443, protocol: TCP}]
      readinessProbe: {httpGet: {path: /healthz, port: 9443, scheme: HTTPS},
        initialDelaySeconds: 5, periodSeconds: 5, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
      livenessProbe: {httpGet: {path: /healthz, port: 9443, scheme: HTTPS},
        initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
      resources: {limits: {cpu: 100m, memory: 64Mi}, requests: {cpu: 50m, memory: 32Mi}}
      volumeMounts:
      - {name: s-tls, mountPath: /etc/tls/private, readOnly: true}
      - {name: kube-rbac-proxy-config, mountPath: /etc/kube-rbac-proxy, readOnly: true}` + indent(proxyMounts) + `
    volumes: ` + indent(volumes)
}

// indent indents the lines of a list below a field of a container.
func indent(list string) string { return strings.ReplaceAll(list, "\n", "\n      ") }

// TestPods compares the Deployment with that of the product for each kind of storage.
func TestPods(t *testing.T) {
	t.Parallel()
	const database = `
- {name: QUARKUS_HIBERNATE_ORM_ACTIVE, value: "true"}
- {name: QUARKUS_DATASOURCE_DB_KIND, valueFrom: {secretKeyRef: {name: NAME, key: databaseKind}}}
- {name: QUARKUS_DATASOURCE_JDBC_MAX_SIZE, value: "16"}
- {name: QUARKUS_DATASOURCE_USERNAME, valueFrom: {secretKeyRef: {name: NAME, key: databaseUsername}}}
- {name: QUARKUS_DATASOURCE_PASSWORD, valueFrom: {secretKeyRef: {name: NAME, key: databasePassword}}}
- {name: DATABASE_SERVICE, valueFrom: {secretKeyRef: {name: NAME, key: databaseService}}}
- {name: DATABASE_PORT, valueFrom: {secretKeyRef: {name: NAME, key: databasePort}}}
- {name: DATABASE_NAME, valueFrom: {secretKeyRef: {name: NAME, key: databaseName}}}
- name: QUARKUS_DATASOURCE_JDBC_URL
  value: jdbc:${QUARKUS_DATASOURCE_DB_KIND}://${DATABASE_SERVICE}:${DATABASE_PORT}/${DATABASE_NAME}OPTIONS
- {name: SERVICE_DATA_FORMAT, value: HIBERNATE}
- {name: QUARKUS_DATASOURCE_GENERATION, valueFrom: {secretKeyRef: {name: NAME, key: databaseGeneration}}}
- {name: SERVICE_METRICS_SCHEDULE, value: 5s}`
	const claim = `
- {name: volume, persistentVolumeClaim: {claimName: s-pvc}}`
	const files = `
- {name: s-tls, secret: {secretName: s-tls, defaultMode: 420}}
- {name: s-internal, secret: {secretName: s-internal, defaultMode: 420}}
- {name: kube-rbac-proxy-config, configMap: {name: s-kube-rbac-proxy-config, defaultMode: 420}}`
	for name, test := range map[string]struct {
		spec       v1.TrustyAIServiceSpec
		databaseCA bool
		trusted    map[string]string // labels of the ConfigMap with the cluster's certificates; nil: none
		want       string
	}{
		"files": {
			spec: v1.TrustyAIServiceSpec{
				Storage: v1.Storage{Format: v1.FormatPVC, Folder: "/data", Size: "1Gi"}, Data: &v1.Data{Filename: "data.csv", Format: "CSV"},
				Metrics: v1.Metrics{Schedule: "5s"},
			},
			trusted: map[string]string{}, // no certificates are injected there
			want: deploymentOf(`
- {name: SERVICE_STORAGE_FORMAT, value: PVC}
- {name: STORAGE_DATA_FILENAME, value: data.csv}
- {name: STORAGE_DATA_FOLDER, value: /data}
- {name: SERVICE_DATA_FORMAT, value: CSV}
- {name: QUARKUS_HIBERNATE_ORM_ACTIVE, value: "false"}
- {name: SERVICE_METRICS_SCHEDULE, value: 5s}
- {name: SERVICE_BATCH_SIZE, value: "5000"}`, `
- {name: volume, mountPath: /data}`, "", claim+files),
		},
		"a database": {
			spec: v1.TrustyAIServiceSpec{
				Storage: v1.Storage{Format: v1.FormatDatabase}, Metrics: v1.Metrics{Schedule: "5s", BatchSize: new(7)},
			},
			want: deploymentOf(`
- {name: SERVICE_STORAGE_FORMAT, value: DATABASE}`+strings.NewReplacer("OPTIONS", "", "{name: NAME,", "{name: s-db-credentials,").Replace(database)+`
- {name: SERVICE_BATCH_SIZE, value: "7"}`, "", "", files),
		},
		"files migrated to a database with its own CA": {
			spec: v1.TrustyAIServiceSpec{
				Storage: v1.Storage{Format: v1.FormatDatabase, Folder: "/data", Size: "1Gi", DatabaseConfigurations: "db"},
				Data:    &v1.Data{Filename: "data.csv", Format: "CSV"}, Metrics: v1.Metrics{Schedule: "5s"},
			},
			databaseCA: true, trusted: map[string]string{"config.openshift.io/inject-trusted-cabundle": "true"},
			want: deploymentOf(`
- {name: SERVICE_STORAGE_FORMAT, value: DATABASE}
- {name: STORAGE_DATA_FILENAME, value: data.csv}
- {name: STORAGE_DATA_FOLDER, value: /data}`+strings.NewReplacer(
				"OPTIONS", "?requireSSL=true&sslMode=verify-ca&serverSslCert=/etc/tls/db/ca.crt", "{name: NAME,", "{name: db,").Replace(database)+`
- {name: SERVICE_BATCH_SIZE, value: "5000"}
- {name: STORAGE_MIGRATION_CONFIG_FROM_FOLDER, value: /data}
- {name: STORAGE_MIGRATION_CONFIG_FROM_FILENAME, value: data.csv}`, `
- {name: volume, mountPath: /data}
- {name: db-ca-cert, mountPath: /etc/tls/db, readOnly: true}`, `
- {name: odh-trusted-ca-bundle, mountPath: /etc/ssl/certs/ca-bundle.crt, subPath: ca-bundle.crt, readOnly: true}`, claim+`
- {name: odh-trusted-ca-bundle, configMap: {name: odh-trusted-ca-bundle, defaultMode: 420}}`+files+`
- {name: db-ca-cert, secret: {secretName: s-db-ca, defaultMode: 420}}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &v1.TrustyAIService{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}, Spec: test.spec}
			f := Fetched{}
			f.config.Value = &corev1.ConfigMap{Data: map[string]string{images.Service: "service:1", images.Proxy: "proxy:1"}}
			f.credentials.Value = credentialsWith(nil)
			if test.databaseCA {
				f.databaseCA.Value = &corev1.Secret{}
			}
			if test.trusted != nil {
				f.authority.Value = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: test.trusted}}
			}
			plan := planned(t, s, f)
			for i := range plan.Children {
				o, is := plan.Children[i].Object.(*unstructured.Unstructured)
				if !is || o.GetKind() != "Deployment" {
					continue
				}
				var got appsv1.Deployment
				if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &got, true); err != nil {
					t.Fatal(err)
				}
				if diff := expect.Diff(t, test.want, got.Spec); diff != "" {
					t.Errorf("Deployment (-want +got):\n%s", diff)
				}
				return
			}
			t.Error("no Deployment is planned")
		})
	}
}
