package instance

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
)

// grafanaOf returns the Grafana space/main with the given spec.
func grafanaOf(t *testing.T, spec string) *v1beta1.Grafana {
	t.Helper()
	g := &v1beta1.Grafana{}
	g.Namespace, g.Name = "space", "main"
	if err := yaml.UnmarshalStrict([]byte(spec), &g.Spec); err != nil {
		t.Fatal(err)
	}
	return g
}

const (
	secretAndConfig = `
apiVersion: v1
kind: Secret
metadata: {namespace: space, name: main-admin-credentials, labels: {app: main, app.kubernetes.io/managed-by: grafana-operator}}
data: {GF_SECURITY_ADMIN_USER: YWRtaW4=, GF_SECURITY_ADMIN_PASSWORD: c2VjcmV0}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: space, name: main-ini, labels: {app: main, app.kubernetes.io/managed-by: grafana-operator}}
data:
  grafana.ini: "[paths]\ndata = /var/lib/grafana\nlogs = /var/log/grafana\nplugins = /var/lib/grafana/plugins\nprovisioning = /etc/grafana/provisioning/\n\n"
---
`
	serviceOf = `
apiVersion: v1
kind: Service
metadata: {namespace: space, name: main-service, labels: {app: main, app.kubernetes.io/managed-by: grafana-operator}}
spec:
  selector: {app: main}
  ports: [{name: grafana, port: 3000, protocol: TCP, targetPort: grafana}]
---
`
	deploymentOf = `
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: space, name: main-deployment, labels: {app: main, app.kubernetes.io/managed-by: grafana-operator}}
spec:
  replicas: 1
  selector: {matchLabels: {app: main}}
  template:
    metadata: {labels: {app: main}}
    spec:
      containers:
      - name: grafana
        image: docker.io/grafana/grafana:12.3.0
        args: [-config=/etc/grafana/grafana.ini]
        ports: [{name: grafana, containerPort: 3000, protocol: TCP}]
        env:
        - {name: CONFIG_HASH, value: 98e8da23b51963ae3b3569c19ffdc1ec060852dfde6dab68bfb63d46751b4b08}
        - {name: TMPDIR, value: /var/lib/grafana}
        - {name: GF_SECURITY_ADMIN_USER, valueFrom: {secretKeyRef: {name: main-admin-credentials, key: GF_SECURITY_ADMIN_USER}}}
        - {name: GF_SECURITY_ADMIN_PASSWORD, valueFrom: {secretKeyRef: {name: main-admin-credentials, key: GF_SECURITY_ADMIN_PASSWORD}}}
        resources: {requests: {cpu: 100m, memory: 256Mi}, limits: {cpu: 500m, memory: 1Gi}}
        securityContext:
          {allowPrivilegeEscalation: false, runAsNonRoot: true, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}
        readinessProbe: {httpGet: {path: /api/health, port: grafana}}
        volumeMounts:
        - {name: grafana-ini, mountPath: /etc/grafana/}
        - {name: grafana-data, mountPath: /var/lib/grafana}
        - {name: grafana-logs, mountPath: /var/log/grafana}
      volumes:
      - {name: grafana-data, emptyDir: {}}
      - {name: grafana-logs, emptyDir: {}}
      - {name: grafana-ini, configMap: {name: main-ini}}
---
`
	claimAndIngress = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: space, name: main-pvc, labels: {app: main, app.kubernetes.io/managed-by: grafana-operator}}
spec: {accessModes: [ReadWriteOnce]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {namespace: space, name: main-ingress, labels: {app: main, app.kubernetes.io/managed-by: grafana-operator, a: b}}
spec: {ingressClassName: nginx}
---
`
)

// TestPlan compares all fields of all planned children.
func TestPlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, want string }{
		"default": {want: secretAndConfig + serviceOf + deploymentOf},
		"a claim and an Ingress": {
			spec: `{persistentVolumeClaim: {spec: {accessModes: [ReadWriteOnce]}}, ingress: {metadata: {labels: {a: b}}, spec: {ingressClassName: nginx}}}`,
			want: secretAndConfig + serviceOf + deploymentOf + claimAndIngress,
		},
		"external": {spec: `external: {url: "http://example.com"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := observed{admin: reconcile.FetchResult[map[string][]byte]{Value: map[string][]byte{
				v1beta1.AdminUserKey: []byte("admin"), v1beta1.AdminPasswordKey: []byte("secret"),
			}}}
			plan, err := reconciler{}.PlanResources(t.Context(), rcontext{Object: grafanaOf(t, c.spec)}, o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := expect.Children(t, scheme.Scheme, c.want, plan); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOverride checks that the user's fields are merged into the Deployment, lists by their keys, and that an unknown
// field is an error.
func TestOverride(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, container, err string }{
		"another container": {
			spec:      `deployment: {spec: {template: {spec: {containers: [{name: proxy, image: proxy}]}}}}`,
			container: `{name: proxy, image: proxy}`,
		},
		"an image": {spec: `version: example.com/grafana`, container: `image: example.com/grafana`},
		"a tag":    {spec: `version: 11.6.0`, container: `image: docker.io/grafana/grafana:11.6.0`},
		"a field of the container": {
			spec:      `deployment: {spec: {template: {spec: {containers: [{name: grafana, workingDir: /x}]}}}}`,
			container: `workingDir: /x`,
		},
		"an unknown field": {spec: `deployment: {spec: {replica: 1}}`, err: `spec.deployment: json: unknown field "replica"`},
		"a wrong type": {
			spec: `deployment: {spec: {replicas: two}}`,
			err:  `spec.deployment: json: cannot unmarshal string into Go struct field DeploymentSpecApplyConfiguration.spec.replicas of type int32`,
		},
		"a port": {spec: `config: {server: {http_port: web}}`, err: `spec.config.server.http_port is "web": want a number`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := deployment(grafanaOf(t, c.spec))
			if err != nil || c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			first := got.Spec.Template.Spec.Containers[0]
			want := first
			if err := yaml.Unmarshal([]byte(c.container), &want); err != nil {
				t.Fatal(err)
			}
			if diff := expect.Diff(t, string(marshal(t, want)), first); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestINI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sections map[string]map[string]string
		want     string
	}{
		"none":   {},
		"sorted": {map[string]map[string]string{"b": {"y": "2", "x": "1"}, "a": {"z": "3"}}, "[a]\nz = 3\n\n[b]\nx = 1\ny = 2\n\n"},
		"global": {map[string]map[string]string{"a": {"x": "1"}, "global": {"y": "2"}}, "y = 2\n\n[a]\nx = 1\n\n"},
	} {
		if got := ini(c.sections); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		``:                                  "",
		`deployment: {spec: {replicas: 2}}`: "",
		`deployment: {spec: {replica: 2}}`:  "spec.deployment",
		`service: {spec: {typ: NodePort}}`:  "spec.service",
		`ingress: {spec: {rules: 1}}`:       "spec.ingress",
		`persistentVolumeClaim: {spec: {accessModes: a}}`:  "spec.persistentVolumeClaim",
		`config: {server: {http_port: "70000"}}`:           "spec.config.server.http_port",
		`external: {url: "http://a"}`:                      "spec.external",
		`external: {url: "http://a", apiKey: {key: a}}`:    "",
		`external: {url: "http://a", adminUser: {key: a}}`: "spec.external",
	} {
		problems, err := validate(t.Context(), grafanaOf(t, spec), nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(problems) > 0 {
			got = problems[0].Field
		}
		if got != want || len(problems) > 1 {
			t.Errorf("%s: got %v, want a problem of %q", spec, problems, want)
		}
	}
}
