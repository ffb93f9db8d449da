package registry

import (
	"slices"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// std returns the labels of a child with its own name, as the product sets them.
func std(instance, app, component, name, kind string) string {
	return `{app: ` + app + `, component: ` + component + `, app.kubernetes.io/name: ` + name + `, app.kubernetes.io/instance: ` + instance +
		`, app.kubernetes.io/component: ` + kind + `, app.kubernetes.io/part-of: model-registry, ` +
		`app.kubernetes.io/created-by: model-registry-operator, app.kubernetes.io/managed-by: model-registry-operator}`
}

// ofRegistry returns the metadata of a child with the labels of the registry, ofDatabase with those of its database.
func ofRegistry(name string) string {
	return `{namespace: registries, name: ` + name + `, labels: ` + std(name, "r", "model-registry", "r", "model-registry")
}

func ofDatabase(name string) string {
	return `{namespace: registries, name: ` + name + `, labels: ` + std(
		name, "r-postgres", "model-registry-postgres", "r-postgres", "database",
	) + `}`
}

const (
	podLabels      = `{app: r, component: model-registry, app.kubernetes.io/name: r}`
	databaseLabels = `{app: r, component: model-registry, app.kubernetes.io/name: r-postgres}`

	// confined is the security context of a container, podConfined that of a pod.
	confined    = `{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}`
	podConfined = `{runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}`

	smallResources = `{requests: {cpu: 100m, memory: 256Mi}, limits: {memory: 256Mi}}`
)

// deploymentOf returns the Deployment of the registry. Its parameters are the image, resources, port, arguments after
// the port and further fields of the server, and the YAML after its container.
func deploymentOf(image, resources, port, args, more, after string) string {
	return `
apiVersion: apps/v1
kind: Deployment
metadata: ` + ofRegistry("r") + `}
spec:
  replicas: 1
  revisionHistoryLimit: 0
  selector: {matchLabels: ` + podLabels + `}
  template:
    metadata: {labels: ` + podLabels + `, annotations: {openshift.io/required-scc: restricted-v2}}
    spec:
      serviceAccountName: r
      securityContext: ` + podConfined + `
      containers:
      - name: rest-container
        command: [/model-registry, proxy]
        args:
        - --hostname=0.0.0.0
        - --port=` + port + args + `
        image: ` + image + `
        ports: [{name: http-api, containerPort: ` + port + `}]
        securityContext: ` + confined + `
        resources: ` + resources + `
        livenessProbe: {httpGet: {path: /readyz/isDirty, port: http-api},
          initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3}
        startupProbe: {httpGet: {path: /readyz/isDirty, port: http-api},
          initialDelaySeconds: 10, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 6}
        readinessProbe: {httpGet: {path: /readyz/health, port: http-api},
          initialDelaySeconds: 5, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3}` +
		more + after
}

// proxyOf returns the container of the proxy.
func proxyOf(image, port, upstream, certificate, key string) string {
	return `
      - name: kube-rbac-proxy
        image: ` + image + `
        args:
        - --secure-listen-address=0.0.0.0:` + port + `
        - --upstream=http://127.0.0.1:` + upstream + `/
        - --proxy-endpoints-port=8888
        - --logtostderr=true
        - --v=0
        - --config-file=/etc/kube-rbac-proxy/config-file.yaml
        - --tls-cert-file=/etc/tls/private-cert/` + certificate + `
        - --tls-private-key-file=/etc/tls/private-key/` + key + `
        ports: [{name: https-proxy, containerPort: ` + port + `}, {name: proxy-healthz, containerPort: 8888}]
        livenessProbe: {httpGet: {path: /healthz, port: proxy-healthz, scheme: HTTPS},
          initialDelaySeconds: 30, periodSeconds: 5, timeoutSeconds: 1, failureThreshold: 3}
        readinessProbe: {httpGet: {path: /healthz, port: proxy-healthz, scheme: HTTPS},
          initialDelaySeconds: 5, periodSeconds: 5, timeoutSeconds: 1, failureThreshold: 3}
        resources: ` + smallResources + `
        volumeMounts:
        - {name: kube-rbac-proxy-cert, mountPath: /etc/tls/private-cert}
        - {name: kube-rbac-proxy-key, mountPath: /etc/tls/private-key}
        - {name: kube-rbac-proxy-config, mountPath: /etc/kube-rbac-proxy}`
}

// proxyVolumes returns the volumes of the proxy, which come first.
func proxyVolumes(certificate, key string) string {
	return `
      volumes:
      - {name: kube-rbac-proxy-cert, secret: {secretName: ` + certificate + `, defaultMode: 0600}}
      - {name: kube-rbac-proxy-key, secret: {secretName: ` + key + `, defaultMode: 0600}}
      - {name: kube-rbac-proxy-config, configMap: {name: r-kube-rbac-proxy-config, defaultMode: 0644}}`
}

// serviceOf returns the Service of the registry.
func serviceOf(annotations, port string) string {
	return `
apiVersion: v1
kind: Service
metadata: ` + ofRegistry("r") + annotations + `}
spec:
  type: ClusterIP
  selector: ` + podLabels + `
  ports: [` + port + `]`
}

// always has the children of each registry on OpenShift.
var always = []string{`
apiVersion: v1
kind: ServiceAccount
metadata: ` + ofRegistry("r") + `}`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: ` + ofRegistry("registry-user-r") + `,
  annotations: {openshift.io/display-name: Registry User r, openshift.io/description: Can access Model Registry r}}
rules:
- {apiGroups: [""], resources: [services], resourceNames: [r], verbs: [get]}
- {apiGroups: [""], resources: [endpoints], resourceNames: [r], verbs: [get]}`, `
apiVersion: user.openshift.io/v1
kind: Group
metadata: {name: r-users, labels: ` + std("r-users", "r", "model-registry", "r", "model-registry") + `}`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: ` + ofRegistry("r-users") + `}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: registry-user-r}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: r-users}]`}

// proxied has the additional children of a registry with a proxy.
var proxied = []string{`
apiVersion: v1
kind: ConfigMap
metadata: ` + ofRegistry("r-kube-rbac-proxy-config") + `}
data:
  config-file.yaml: |
    authorization:
      resourceAttributes:
        apiVersion: v1
        resource: services
        verb: get
        namespace: registries
        name: r
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: r-auth-delegator
  labels: ` + strings.TrimSuffix(std("r-auth-delegator", "r", "model-registry", "r", "model-registry"), "}") + `,
    modelregistry.opendatahub.io/namespace: registries}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:auth-delegator"}
subjects: [{kind: ServiceAccount, name: r, namespace: registries}]`}

// published returns the additional children of a registry whose proxy has a Route.
func published(host, port string) []string {
	return []string{`
apiVersion: route.openshift.io/v1
kind: Route
metadata: ` + ofRegistry("r-https") + `}
spec:
  host: ` + host + `
  to: {kind: Service, name: r, weight: 100}
  port: {targetPort: https-api}
  tls: {termination: reencrypt}
  wildcardPolicy: None`, `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: ` + ofRegistry("r-https-route") + `}
spec:
  podSelector: {matchLabels: ` + podLabels + `}
  policyTypes: [Ingress]
  ingress:
  - from:
    - namespaceSelector: {matchLabels: {network.openshift.io/policy-group: ingress}}
    - namespaceSelector: {matchLabels: {opendatahub.io/generated-namespace: "true"}}
    ports: [{protocol: TCP, port: ` + port + `}]`}
}

// generated returns the additional children of a registry with a generated database.
func generated(image string) []string {
	return []string{`
apiVersion: v1
kind: Secret
metadata:
  namespace: registries
  name: r-postgres-credentials
  ownerReferences:
  - {apiVersion: modelregistry.opendatahub.io/v1beta1, kind: ModelRegistry, name: r, uid: "1", controller: true, blockOwnerDeletion: true}
data: {username: bW9kZWxyZWdpc3RyeQ==, password: cGFzc3dvcmQ=}`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: ` + ofDatabase("r-postgres-storage") + `
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}`, `
apiVersion: apps/v1
kind: Deployment
metadata: ` + ofDatabase("r-postgres") + `
spec:
  replicas: 1
  selector: {matchLabels: ` + databaseLabels + `}
  template:
    metadata: {labels: ` + databaseLabels + `}
    spec:
      securityContext: ` + podConfined + `
      containers:
      - name: postgres
        image: ` + image + `
        ports: [{containerPort: 5432}]
        env:
        - {name: POSTGRESQL_DATABASE, value: model_registry}
        - {name: POSTGRESQL_USER, valueFrom: {secretKeyRef: {name: r-postgres-credentials, key: username}}}
        - {name: POSTGRESQL_PASSWORD, valueFrom: {secretKeyRef: {name: r-postgres-credentials, key: password}}}
        resources: {requests: {cpu: 250m, memory: 256Mi}, limits: {cpu: 500m, memory: 512Mi}}
        securityContext: ` + confined + `
        readinessProbe: {exec: {command: [/usr/libexec/check-container]},
          initialDelaySeconds: 5, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3}
        livenessProbe: {exec: {command: [/usr/libexec/check-container, --live]},
          initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3}
        volumeMounts: [{name: postgres-storage, mountPath: /var/lib/pgsql/data}]
      volumes: [{name: postgres-storage, persistentVolumeClaim: {claimName: r-postgres-storage}}]`, `
apiVersion: v1
kind: Service
metadata: ` + ofDatabase("r-postgres") + `
spec:
  selector: {app: r, app.kubernetes.io/name: r-postgres}
  ports: [{port: 5432, targetPort: 5432, protocol: TCP}]`, `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: ` + ofDatabase("r-postgres") + `
spec:
  podSelector: {matchLabels: ` + databaseLabels + `}
  policyTypes: [Ingress]
  ingress:
  - from: [{podSelector: {matchLabels: ` + podLabels + `}}]
    ports: [{protocol: TCP, port: 5432}]`}
}

// TestPods compares the children of a registry on OpenShift with those of the product.
func TestPods(t *testing.T) {
	t.Parallel()
	const httpPort = `{name: http-api, port: 8080, protocol: TCP, appProtocol: http}`
	for name, test := range map[string]struct {
		annotations map[string]string
		spec        string
		want        [][]string
	}{
		"a database of the user": {
			annotations: map[string]string{"openshift.io/display-name": "Mine", "other": "x"},
			spec:        `{rest: {}, postgres: {host: db, username: user, database: models, sslMode: disable}}`,
			want: [][]string{always, {serviceOf(`, annotations: {openshift.io/display-name: Mine}`, httpPort), deploymentOf("rest:1", smallResources, "8080", `
        - --embedmd-database-type=postgres
        - --embedmd-database-dsn=postgresql://user@db:5432/models?sslmode=disable`, "", "")}},
		},
		"PostgreSQL with everything": {
			spec: `
rest: {port: 8081, image: "mine:1", serviceRoute: enabled, resources: {requests: {cpu: 1}}}
mysql: {host: ignored, username: u, database: d}
postgres:
  hostAddress: 10.0.0.1
  port: 5433
  username: user
  database: models
  sslMode: verify-full
  passwordSecret: {name: db, key: pw}
  sslCertificateSecret: {name: tls, key: c}
  sslKeySecret: {name: tls, key: k}
  sslPasswordSecret: {name: tls, key: p}
  sslRootCertificateSecret: {name: less, key: r}
  sslRootCertificateConfigMap: {name: more, key: r}
`,
			want: [][]string{always, {
				serviceOf("", `{name: http-api, port: 8081, protocol: TCP, appProtocol: http}`), `
apiVersion: route.openshift.io/v1
kind: Route
metadata: ` + ofRegistry("r-http") + `}
spec: {to: {kind: Service, name: r, weight: 100}, port: {targetPort: http-api}, wildcardPolicy: None}`,
				deploymentOf("mine:1", "{requests: {cpu: 1}}", "8081", `
        - --embedmd-database-type=postgres
        - --embedmd-database-dsn=postgresql://user:$(POSTGRES_PASSWORD)@10.0.0.1:5433/models?sslmode=verify-full
        - --embedmd-database-ssl-cert=/etc/postgres_ssl_cert/c
        - --embedmd-database-ssl-key=/etc/postgres_ssl_key/k
        - --embedmd-database-ssl-root-cert=/etc/postgres_ssl_rootcert/r`, `
        env:
        - {name: POSTGRES_PASSWORD, valueFrom: {secretKeyRef: {name: db, key: pw}}}
        - {name: POSTGRES_SSLPASSWORD, valueFrom: {secretKeyRef: {name: tls, key: p}}}
        volumeMounts:
        - {name: postgres-ssl-cert, mountPath: /etc/postgres_ssl_cert, readOnly: true}
        - {name: postgres-ssl-key, mountPath: /etc/postgres_ssl_key, readOnly: true}
        - {name: postgres-ssl-rootcert, mountPath: /etc/postgres_ssl_rootcert, readOnly: true}`, `
      volumes:
      - {name: postgres-ssl-cert, secret: {secretName: tls, defaultMode: 0600}}
      - {name: postgres-ssl-key, secret: {secretName: tls, defaultMode: 0600}}
      - {name: postgres-ssl-rootcert, configMap: {name: more, defaultMode: 0600}}`),
			}},
		},
		"MySQL with everything, and a proxy of the user's": {
			spec: `
rest: {}
mysql:
  host: db
  port: 3307
  username: user
  database: models
  passwordSecret: {name: db, key: pw}
  sslCertificateSecret: {name: tls, key: c}
  sslKeySecret: {name: tls, key: k}
  sslRootCertificateSecret: {name: root, key: r}
  sslRootCertificatesSecretName: roots
  sslCipher: AES
  verifyServerCert: false
kubeRBACProxy:
  port: 9443
  routePort: 444
  domain: my.dom
  image: "guard:1"
  tlsCertificateSecret: {name: cs, key: ck}
  tlsKeySecret: {name: ks, key: kk}
`,
			want: [][]string{always, proxied, published("r-rest.my.dom", "9443"), {
				serviceOf(`, annotations: {routing.opendatahub.io/external-address-rest: "r-rest.my.dom:444"}`,
					`{name: https-api, port: 9443, protocol: TCP, appProtocol: https}`),
				deploymentOf("rest:1", smallResources, "8080", `
        - --embedmd-database-type=mysql
        - --embedmd-database-dsn=user:$(MYSQL_PASSWORD)@tcp(db:3307)/models?charset=utf8mb4
        - --embedmd-database-ssl-cert=/etc/mysql_ssl_cert/c
        - --embedmd-database-ssl-key=/etc/mysql_ssl_key/k
        - --embedmd-database-ssl-root-cert=/etc/mysql_ssl_rootcert/r
        - --embedmd-database-ssl-ca=/etc/mysql_ssl_rootcerts/
        - --embedmd-database-ssl-cipher=AES
        - --embedmd-database-ssl-verify-server-cert=false`, `
        env: [{name: MYSQL_PASSWORD, valueFrom: {secretKeyRef: {name: db, key: pw}}}]
        volumeMounts:
        - {name: mysql-ssl-cert, mountPath: /etc/mysql_ssl_cert, readOnly: true}
        - {name: mysql-ssl-key, mountPath: /etc/mysql_ssl_key, readOnly: true}
        - {name: mysql-ssl-rootcert, mountPath: /etc/mysql_ssl_rootcert, readOnly: true}
        - {name: mysql-ssl-rootcerts, mountPath: /etc/mysql_ssl_rootcerts, readOnly: true}`,
					proxyOf("guard:1", "9443", "8080", "ck", "kk")+proxyVolumes("cs", "ks")+`
      - {name: mysql-ssl-cert, secret: {secretName: tls, defaultMode: 0600}}
      - {name: mysql-ssl-key, secret: {secretName: tls, defaultMode: 0600}}
      - {name: mysql-ssl-rootcert, secret: {secretName: root, defaultMode: 0600}}
      - {name: mysql-ssl-rootcerts, secret: {secretName: roots, defaultMode: 0600}}`),
			}},
		},
		"a generated database, and a proxy with the defaults": {
			spec: `{rest: {}, postgres: {generateDeployment: true, username: ignored, database: ignored, sslMode: disable, port: 5433}, kubeRBACProxy: {}}`,
			want: [][]string{always, proxied, published("r-rest.apps.example", "8443"), generated("postgres:1"), {
				serviceOf(`, annotations: {service.beta.openshift.io/serving-cert-secret-name: r-kube-rbac-proxy,
  routing.opendatahub.io/external-address-rest: "r-rest.apps.example:443"}`, `{name: https-api, port: 8443, protocol: TCP, appProtocol: https}`),
				deploymentOf("rest:1", smallResources, "8080", `
        - --embedmd-database-type=postgres
        - --embedmd-database-dsn=postgresql://modelregistry:$(POSTGRES_PASSWORD)@r-postgres:5432/model_registry`, `
        env: [{name: POSTGRES_PASSWORD, valueFrom: {secretKeyRef: {name: r-postgres-credentials, key: password}}}]`,
					proxyOf("proxy:1", "8443", "8080", "tls.crt", "tls.key")+proxyVolumes("r-kube-rbac-proxy", "r-kube-rbac-proxy")),
			}},
		},
		"a generated database of the user's image, and a proxy without a route": {
			spec: `{rest: {}, postgres: {generateDeployment: true, image: "pg:2"}, kubeRBACProxy: {serviceRoute: disabled}}`,
			want: [][]string{always, proxied, generated("pg:2"), {
				serviceOf(`, annotations: {service.beta.openshift.io/serving-cert-secret-name: r-kube-rbac-proxy}`,
					`{name: https-api, port: 8443, protocol: TCP, appProtocol: https}`),
				deploymentOf("rest:1", smallResources, "8080", `
        - --embedmd-database-type=postgres
        - --embedmd-database-dsn=postgresql://modelregistry:$(POSTGRES_PASSWORD)@r-postgres:5432/model_registry`, `
        env: [{name: POSTGRES_PASSWORD, valueFrom: {secretKeyRef: {name: r-postgres-credentials, key: password}}}]`,
					proxyOf("proxy:1", "8443", "8080", "tls.crt", "tls.key")+proxyVolumes("r-kube-rbac-proxy", "r-kube-rbac-proxy")),
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &v1beta1.ModelRegistry{ObjectMeta: metav1.ObjectMeta{Name: "r", Annotations: test.annotations}}
			if err := yaml.UnmarshalStrict([]byte(test.spec), &m.Spec); err != nil {
				t.Fatal(err)
			}
			f := Fetched{ingress: reconcile.FetchResult[*openshift.Ingress]{Value: &openshift.Ingress{Spec: openshift.IngressSpec{AppsDomain: "apps.example"}}}}
			f.secret.Error = missing
			f.credentials.Value = map[string][]byte{"username": []byte("modelregistry"), "password": []byte("password")}
			r, rc, obs := observed(t, m, f)
			plan, err := r.PlanResources(t.Context(), rc, obs)
			if err != nil {
				t.Fatal(err)
			}
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, openshift.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			if diff := expect.Children(t, scheme, strings.Join(slices.Concat(test.want...), "\n---\n"), plan); diff != "" {
				t.Errorf("children (-want +got):\n%s", diff)
			}
		})
	}
}
