package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// Owner references of children, without a controller.
const (
	byPlatform = `ownerReferences: [{apiVersion: components.platform.opendatahub.io/v1alpha1, kind: ModelRegistry, name: default-modelregistry, uid: "1"}]`
	byServer   = `ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: model-catalog, uid: "2"}]`
	byDatabase = `ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: model-catalog-postgres, uid: "3"}]`
)

// described returns the labels of an object of the operator: the given ones and the common ones.
func described(labels string) string {
	return `{` + labels + `, app.kubernetes.io/part-of: model-catalog, app.kubernetes.io/created-by: model-registry-operator, ` +
		`app.kubernetes.io/managed-by: model-registry-operator}`
}

// labelsOf returns the labels of an object of the server with an instance.
func labelsOf(instance string) string {
	return described(`app: model-catalog, component: model-catalog, app.kubernetes.io/name: model-catalog, app.kubernetes.io/instance: ` + instance +
		`, app.kubernetes.io/component: model-catalog`)
}

// metadataOf returns the metadata of an object of the server whose instance is its own name; ownedBy is its line with
// the owner.
func metadataOf(name, ownedBy string) string {
	return `{namespace: registries, name: ` + name + `, ` + ownedBy + `, labels: ` + labelsOf(name)
}

const (
	serverPods   = `{app: model-catalog, component: model-catalog, app.kubernetes.io/name: model-catalog}`
	databasePods = `{app: model-catalog, component: model-catalog, app.kubernetes.io/name: model-catalog-postgres}`
	confined     = `{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}`
	resources    = `{requests: {cpu: 100m, memory: 256Mi}, limits: {memory: 256Mi}}`
)

var (
	roleLabels = described(`app: model-catalog, component: model-catalog, app.kubernetes.io/name: model-catalog, app.kubernetes.io/component: model-catalog`)
	// adminLabels are the labels of the Role of administrators and its RoleBinding.
	adminLabels = described(`app: model-catalog, component: model-catalog, app.kubernetes.io/name: model-catalog-admin, ` +
		`app.kubernetes.io/component: model-catalog-admin`)
	databaseLabels = described(`app: model-catalog, component: model-catalog-postgres, app.kubernetes.io/name: model-catalog-postgres, ` +
		`app.kubernetes.io/instance: model-catalog-postgres, app.kubernetes.io/component: model-catalog`)
	storageLabels = described(`app: model-catalog-postgres, component: model-catalog-postgres, app.kubernetes.io/name: model-catalog-postgres, ` +
		`app.kubernetes.io/instance: model-catalog-postgres, app.kubernetes.io/component: database`)
)

// serverOf returns the Deployment of the catalog with its labeled sources.
func serverOf(owner string, sources ...string) string {
	var args, mounts, volumes strings.Builder
	for _, name := range sources {
		args.WriteString(`
        - --catalogs-path=/data/labeled-sources/` + name + `/sources.yaml`)
		mounts.WriteString(`
        - {name: labeled-` + name + `, mountPath: /data/labeled-sources/` + name + `, readOnly: true}`)
		volumes.WriteString(`
      - {name: labeled-` + name + `, configMap: {name: ` + name + `}}`)
	}
	return `
apiVersion: apps/v1
kind: Deployment
metadata: ` + metadataOf("model-catalog", owner) + `}
spec:
  replicas: 1
  revisionHistoryLimit: 0
  selector: {matchLabels: ` + serverPods + `}
  template:
    metadata: {labels: ` + serverPods + `, annotations: {openshift.io/required-scc: restricted-v2}}
    spec:
      serviceAccountName: model-catalog
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      initContainers:
      - name: catalog-data-init
        image: data:1
        command: [/bin/sh, -c, "cp /app/data/*.yaml /shared-data/"]
        securityContext: ` + confined + `
        volumeMounts: [{name: catalog-data, mountPath: /shared-data}]
      - name: benchmark-data-init
        image: benchmarks:1
        command: [/bin/sh, -c, "cp -r /app/benchmarks/* /shared-benchmark-data/ || true"]
        securityContext: ` + confined + `
        volumeMounts: [{name: benchmark-data, mountPath: /shared-benchmark-data}]
      containers:
      - name: catalog
        image: rest:1
        command: [/model-registry, catalog]
        args:
        - --listen=0.0.0.0:8080
        - --catalogs-path=/data/default-sources/sources.yaml
        - --catalogs-path=/data/user-model-sources/sources.yaml
        - --catalogs-path=/data/user-mcp-sources/sources.yaml` + args.String() + `
        - --performance-metrics=/shared-benchmark-data
        env:
        - {name: PGHOST, value: model-catalog-postgres}
        - {name: PGDATABASE, valueFrom: {secretKeyRef: {name: model-catalog-postgres, key: database-name}}}
        - {name: PGUSER, valueFrom: {secretKeyRef: {name: model-catalog-postgres, key: database-user}}}
        - {name: PGPASSWORD, valueFrom: {secretKeyRef: {name: model-catalog-postgres, key: database-password}}}
        ports: [{name: http-api, containerPort: 8080}]
        livenessProbe: {tcpSocket: {port: http-api}, initialDelaySeconds: 30, periodSeconds: 5, timeoutSeconds: 2}
        readinessProbe: {tcpSocket: {port: http-api}, initialDelaySeconds: 3, periodSeconds: 5, timeoutSeconds: 2}
        resources: ` + resources + `
        securityContext: ` + confined + `
        volumeMounts:
        - {name: default-sources, mountPath: /data/default-sources}
        - {name: user-model-sources, mountPath: /data/user-model-sources}
        - {name: user-mcp-sources, mountPath: /data/user-mcp-sources}` + mounts.String() + `
        - {name: catalog-data, mountPath: /shared-data}
        - {name: benchmark-data, mountPath: /shared-benchmark-data}
      - name: kube-rbac-proxy
        image: proxy:1
        args:
        - --secure-listen-address=0.0.0.0:8443
        - --upstream=http://127.0.0.1:8080/
        - --proxy-endpoints-port=8888
        - --logtostderr=true
        - --v=0
        - --config-file=/etc/kube-rbac-proxy/config-file.yaml
        - --tls-cert-file=/etc/tls/tls.crt
        - --tls-private-key-file=/etc/tls/tls.key
        ports: [{name: https-api, containerPort: 8443}, {name: proxy-healthz, containerPort: 8888}]
        livenessProbe: {httpGet: {path: /healthz, port: proxy-healthz, scheme: HTTPS}, initialDelaySeconds: 30, periodSeconds: 5}
        readinessProbe: {httpGet: {path: /healthz, port: proxy-healthz, scheme: HTTPS}, initialDelaySeconds: 5, periodSeconds: 5}
        resources: ` + resources + `
        securityContext: ` + confined + `
        volumeMounts:
        - {name: kube-rbac-proxy-tls, mountPath: /etc/tls, readOnly: true}
        - {name: kube-rbac-proxy-config, mountPath: /etc/kube-rbac-proxy, readOnly: true}
      volumes:
      - {name: default-sources, configMap: {name: default-catalog-sources}}
      - {name: user-model-sources, configMap: {name: model-catalog-sources}}
      - {name: user-mcp-sources, configMap: {name: mcp-catalog-sources}}` + volumes.String() + `
      - {name: catalog-data, emptyDir: {}}
      - {name: benchmark-data, emptyDir: {}}
      - {name: kube-rbac-proxy-tls, secret: {secretName: model-catalog-kube-rbac-proxy, defaultMode: 0600}}
      - {name: kube-rbac-proxy-config, configMap: {name: model-catalog-kube-rbac-proxy-config}}`
}

// first returns the children that exist before the Deployment of the catalog, except the documents of users and the
// database.
func first(owner string) []string {
	return []string{`
apiVersion: v1
kind: ServiceAccount
metadata: ` + metadataOf("model-catalog", owner) + `}`, `
apiVersion: v1
kind: ConfigMap
metadata: ` + metadataOf("model-catalog-kube-rbac-proxy-config", owner) + `}
data:
  config-file.yaml: |
    authorization:
      resourceAttributes:
        apiVersion: v1
        resource: services
        verb: get
        namespace: registries
        name: model-catalog
`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: model-catalog-auth-delegator, labels: ` + labelsOf("model-catalog-auth-delegator") + `}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:auth-delegator"}
subjects: [{kind: ServiceAccount, name: model-catalog, namespace: registries}]`}
}

// documents are the documents of users, which are created once.
var documents = []string{`
apiVersion: v1
kind: ConfigMap
metadata: {namespace: registries, name: model-catalog-sources, labels: ` + labelsOf("model-catalog") + `}
data: {sources.yaml: "catalogs: []"}`, `
apiVersion: v1
kind: ConfigMap
metadata: {namespace: registries, name: mcp-catalog-sources, labels: ` + labelsOf("model-catalog") + `}
data: {sources.yaml: "mcp_catalogs: []"}`}

// storedBy returns the children of the database before its Deployment exists.
func storedBy(owner string) []string {
	return []string{`
apiVersion: v1
kind: Secret
metadata: {namespace: registries, name: model-catalog-postgres, ` + owner + `,
  labels: {component: model-catalog-postgres, app.kubernetes.io/created-by: model-registry-operator}}
data: {database-name: bmFtZQ==}`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: registries, name: model-catalog-postgres, ` + owner + `, labels: ` + storageLabels + `}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}`, `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: registries, name: model-catalog-postgres, ` + owner + `, labels: ` + databaseLabels + `,
  annotations: {template.alpha.openshift.io/wait-for-ready: "true"}}
spec:
  replicas: 1
  revisionHistoryLimit: 0
  strategy: {type: Recreate}
  selector: {matchLabels: ` + databasePods + `}
  template:
    metadata: {labels: {app: model-catalog, component: model-catalog, app.kubernetes.io/name: model-catalog-postgres, sidecar.istio.io/inject: "false"}}
    spec:
      containers:
      - name: postgresql
        image: postgres:1
        imagePullPolicy: IfNotPresent
        env:
        - {name: POSTGRESQL_USER, valueFrom: {secretKeyRef: {name: model-catalog-postgres, key: database-user}}}
        - {name: POSTGRESQL_PASSWORD, valueFrom: {secretKeyRef: {name: model-catalog-postgres, key: database-password}}}
        - {name: POSTGRESQL_DATABASE, valueFrom: {secretKeyRef: {name: model-catalog-postgres, key: database-name}}}
        - {name: PGDATA, value: /var/lib/postgresql/data/pgdata}
        ports: [{containerPort: 5432, protocol: TCP}]
        livenessProbe: {exec: {command: [bash, -c, "/usr/bin/pg_isready -U $POSTGRESQL_USER -d $POSTGRESQL_DATABASE"]},
          initialDelaySeconds: 30, timeoutSeconds: 2}
        readinessProbe: {exec: {command: [bash, -c, "psql -w -U $POSTGRESQL_USER -d $POSTGRESQL_DATABASE -c 'SELECT 1'"]},
          initialDelaySeconds: 10, timeoutSeconds: 5}
        resources: {requests: {cpu: 250m, memory: 256Mi}, limits: {cpu: 500m, memory: 512Mi}}
        securityContext: ` + confined + `
        volumeMounts: [{name: model-catalog-postgres-data, mountPath: /var/lib/postgresql/data}]
      volumes: [{name: model-catalog-postgres-data, persistentVolumeClaim: {claimName: model-catalog-postgres}}]`}
}

// served returns the children that the Deployment of the catalog owns.
func served(annotations string) []string {
	return []string{`
apiVersion: v1
kind: Service
metadata: ` + metadataOf("model-catalog", byServer) + `, annotations: ` + annotations + `}
spec:
  selector: ` + serverPods + `
  ports: [{name: https-api, port: 8443, protocol: TCP, appProtocol: https}]`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {namespace: registries, name: model-catalog, ` + byServer + `, labels: ` + roleLabels + `,
  annotations: {openshift.io/display-name: Model catalog User, openshift.io/description: Can access model catalog}}
rules:
- {apiGroups: [""], resources: [services], resourceNames: [model-catalog], verbs: [get]}
- {apiGroups: [""], resources: [endpoints], resourceNames: [model-catalog], verbs: [get]}`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: registries, name: model-catalog-authenticated, ` + byServer + `,
  labels: {component: model-catalog, app.kubernetes.io/created-by: model-registry-operator}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: model-catalog}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:authenticated"}]`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {namespace: registries, name: model-catalog-admin, ` + byServer + `, labels: ` + adminLabels + `,
  annotations: {openshift.io/display-name: Model Catalog Admin, openshift.io/description: Admin access to model catalog ConfigMaps and Secrets}}
rules:
- {apiGroups: [""], resources: [configmaps, secrets], verbs: [get, list, watch, update, patch]}`}
}

// routed are the additional children on OpenShift, and the RoleBinding of a group of administrators.
var routed = []string{`
apiVersion: route.openshift.io/v1
kind: Route
metadata: ` + metadataOf("model-catalog-https", byServer) + `}
spec:
  host: model-catalog.apps.example
  to: {kind: Service, name: model-catalog, weight: 100}
  port: {targetPort: https-api}
  tls: {termination: reencrypt}
  wildcardPolicy: None`, `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: ` + metadataOf("model-catalog-https-route", byServer) + `}
spec:
  podSelector: {matchLabels: ` + serverPods + `}
  policyTypes: [Ingress]
  ingress:
  - from:
    - namespaceSelector: {matchLabels: {network.openshift.io/policy-group: ingress}}
    - namespaceSelector: {matchLabels: {opendatahub.io/generated-namespace: "true"}}
    ports: [{protocol: TCP, port: 8443}]`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: registries, name: model-catalog-admin-binding, ` + byServer + `, labels: ` + adminLabels + `}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: model-catalog-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: admins}]`}

// backed are the children that the Deployment of the database owns.
var backed = []string{`
apiVersion: v1
kind: Service
metadata: {namespace: registries, name: model-catalog-postgres, ` + byDatabase + `, labels: ` + storageLabels + `,
  annotations: {template.openshift.io/expose-uri: 'postgres://{.spec.clusterIP}:{.spec.ports[?(.name=="postgresql")].port}'}}
spec:
  type: ClusterIP
  sessionAffinity: None
  selector: {app: model-catalog, app.kubernetes.io/name: model-catalog-postgres}
  ports: [{name: postgresql, port: 5432, targetPort: 5432, protocol: TCP, appProtocol: tcp}]`, `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {namespace: registries, name: model-catalog-postgres, ` + byDatabase + `, labels: ` + databaseLabels + `}
spec:
  podSelector: {matchLabels: ` + databasePods + `}
  policyTypes: [Ingress]
  ingress:
  - from: [{podSelector: {matchLabels: ` + serverPods + `}}]
    ports: [{protocol: TCP, port: 5432}]`}

// TestPods compares the children of the catalog with those of the product. TestDefaultSources checks the document of
// default sources.
func TestPods(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, openshift.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	const unowned = `ownerReferences: []`
	for name, test := range map[string]struct {
		settings Settings
		plain    bool // Kubernetes without the objects of OpenShift and the platform, before the Deployments exist
		want     [][]string
	}{
		"first on Kubernetes": {plain: true, want: [][]string{first(unowned), documents, storedBy(unowned), {serverOf(unowned)}}},
		"on OpenShift": {want: [][]string{
			first(byPlatform), storedBy(byPlatform),
			{serverOf(byPlatform, "a", "b")},
			served(`{service.beta.openshift.io/serving-cert-secret-name: model-catalog-kube-rbac-proxy,
  routing.opendatahub.io/external-address-rest: "model-catalog.apps.example:443"}`), routed, backed,
		}},
		"without its database": {settings: Settings{SkipDatabase: true}, want: [][]string{
			first(byPlatform),
			{serverOf(byPlatform, "a", "b")},
			served(`{service.beta.openshift.io/serving-cert-secret-name: model-catalog-kube-rbac-proxy,
  routing.opendatahub.io/external-address-rest: "model-catalog.apps.example:443"}`), routed,
		}},
		"disabled": {settings: Settings{Disabled: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.settings
			s.Settings = v1beta1.Settings{Namespace: "registries", RestImage: "rest:1", ProxyImage: "proxy:1", PostgresImage: "postgres:1"}
			s.DataImage, s.BenchmarkImage = "data:1", "benchmarks:1"
			set, err := newChildren(scheme, s)
			if err != nil {
				t.Fatal(err)
			}
			r := &Reconciler{settings: s, children: set}
			plan, err := r.PlanResources(t.Context(), rcontext{}, r.ComposeState(t.Context(), rcontext{}, fetchedCatalog(test.plain)))
			if err != nil {
				t.Fatal(err)
			}
			for i := range plan.Children {
				if plan.Children[i].Object.GetName() == defaultsName {
					plan.Children = slices.Delete(plan.Children, i, i+1)
					break
				}
			}
			if diff := expect.Children(t, scheme, strings.Join(slices.Concat(test.want...), "\n---\n"), plan); diff != "" {
				t.Errorf("children (-want +got):\n%s", diff)
			}
		})
	}
}

// fetchedCatalog returns the fetched state before the first reconciliation on plain Kubernetes, or that of a running
// catalog on OpenShift.
func fetchedCatalog(plain bool) Fetched {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, "object")
	f := Fetched{documents: map[string]reconcile.FetchResult[*corev1.ConfigMap]{}}
	f.credentials.Value = map[string][]byte{"database-name": []byte("name")}
	f.defaults.Error = missing
	if plain {
		f.platform.Error, f.auth.Error, f.server.Error, f.database.Error, f.ingress.Error = missing, missing, missing, missing, missing
		f.route.Error = &controller.AbsentError{GVK: schema.GroupVersionKind{Group: "route.openshift.io", Version: "v1", Kind: "Route"}}
		for _, name := range userDocuments {
			f.documents[name] = reconcile.FetchResult[*corev1.ConfigMap]{Error: missing}
		}
		return f
	}
	f.platform.Value = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "default-modelregistry", UID: "1"}}
	f.server.Value = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "model-catalog", UID: "2"}}
	f.database.Value = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "model-catalog-postgres", UID: "3"}}
	f.auth.Value = &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"adminGroups": []any{"admins"}}}}
	f.ingress.Value = &openshift.Ingress{Spec: openshift.IngressSpec{AppsDomain: "apps.example"}}
	for _, source := range []string{"a", "b"} {
		f.sources.Value.Found = append(f.sources.Value.Found, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: source}})
	}
	for _, name := range userDocuments {
		f.documents[name] = reconcile.FetchResult[*corev1.ConfigMap]{Value: &corev1.ConfigMap{}}
	}
	return f
}
