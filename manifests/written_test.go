package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/manifests"
)

func builtIn(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := scheme(t)
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, rbacv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

const emptyValues = `apiVersion: v1
kind: Pod
metadata:
  name: a
  labels: {empty: ""}
spec:
  hostNetwork: false
  priority: 0
  serviceAccountName: ""
  nodeSelector:
    worker:
  tolerations: []
  securityContext: {}
  hostAliases:
  containers:
  - name: app
    env: [{name: A, value: ""}]
    volumeMounts: [{name: v, mountPath: /v, readOnly: false}]
`

// TestWrittenValues checks that an object has every written value, including those that encoding the Go type would omit.
func TestWrittenValues(t *testing.T) {
	t.Parallel()
	want := map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "labels": map[string]any{"empty": ""}},
		"spec": map[string]any{
			"hostNetwork": false, "priority": int64(0), "serviceAccountName": "", "nodeSelector": map[string]any{"worker": ""},
			"tolerations": []any{}, "securityContext": map[string]any{},
			"containers": []any{map[string]any{
				"name": "app", "env": []any{map[string]any{"name": "A", "value": ""}},
				"volumeMounts": []any{map[string]any{"name": "v", "mountPath": "/v", "readOnly": false}},
			}},
		},
	}
	objects, err := manifests.Objects("all.yaml", emptyValues, builtIn(t))
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := parse(t, map[string]string{"pod.yaml": emptyValues}).Render("pod.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]manifests.Object{"Objects": objects[0], "Render": rendered} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, ok := object.(*unstructured.Unstructured)
			if !ok {
				t.Fatalf("got a %T, want unstructured content", object)
			}
			if diff := cmp.Diff(want, u.Object); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  paused: false
  replicas: 0
  template:
    spec:
      hostNetwork: false
      containers:
      - {name: a, image: a, stdin: false}
      - {name: b, image: b, stdin: false}
`
	container := func(name, image string) map[string]any {
		return map[string]any{"name": name, "image": image, "stdin": false}
	}
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   func(spec, pod map[string]any)
	}{
		"nothing": {func(*appsv1.Deployment) {}, func(map[string]any, map[string]any) {}},
		"a scalar": {
			func(d *appsv1.Deployment) { d.Spec.Paused = true }, func(spec, _ map[string]any) { spec["paused"] = true },
		},
		"a removed pointer": {
			func(d *appsv1.Deployment) { d.Spec.Replicas = nil }, func(spec, _ map[string]any) { delete(spec, "replicas") },
		},
		"one item": {
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[1].Image = "c" },
			func(_, pod map[string]any) { pod["containers"] = []any{container("a", "a"), container("b", "c")} },
		},
		"a removed item": {
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = d.Spec.Template.Spec.Containers[1:] },
			func(_, pod map[string]any) { pod["containers"] = []any{container("b", "b")} },
		},
		"an added item": {
			func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers = append([]corev1.Container{{Name: "c"}}, d.Spec.Template.Spec.Containers...)
			},
			func(_, pod map[string]any) {
				pod["containers"] = []any{map[string]any{"name": "c", "resources": map[string]any{}}, container("a", "a"), container("b", "b")}
			},
		},
		"another item": {
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Name = "c" },
			func(_, pod map[string]any) {
				pod["containers"] = []any{map[string]any{"name": "c", "image": "a", "resources": map[string]any{}}, container("b", "b")}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := manifests.Objects("all.yaml", deployment, builtIn(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := manifests.Change(objects[0], test.change); err != nil {
				t.Fatal(err)
			}
			pod := map[string]any{"hostNetwork": false, "containers": []any{container("a", "a"), container("b", "b")}}
			spec := map[string]any{"paused": false, "replicas": int64(0), "template": map[string]any{"spec": pod}}
			test.want(spec, pod)
			got, _, _ := unstructured.NestedMap(objects[0].(*unstructured.Unstructured).Object, "spec")
			if diff := cmp.Diff(spec, got); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an object of another type is an error", func(t *testing.T) {
		t.Parallel()
		objects, err := manifests.Objects("all.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nspec: hunter2\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := manifests.Change(objects[0], func(*appsv1.Deployment) {}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v, want an error that does not contain the value", err)
		}
	})
}

// TestLists checks that a List is replaced by its items.
func TestLists(t *testing.T) {
	t.Parallel()
	const item = "- {apiVersion: v1, kind: ConfigMap, metadata: {name: %}}\n"
	named := func(name string) string { return strings.ReplaceAll(item, "%", name) }
	for name, test := range map[string]struct {
		stream string
		want   []string // kinds and names, unless an error is expected
		err    string
	}{
		"List":     {stream: "apiVersion: v1\nkind: List\nitems:\n" + named("a") + named("b"), want: []string{"ConfigMap a", "ConfigMap b"}},
		"RoleList": {stream: "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleList\nitems:\n- metadata: {name: a}\n", want: []string{"Role a"}},
		"of a custom kind": {
			stream: "apiVersion: example.com/v1\nkind: WidgetList\nmetadata: {resourceVersion: \"1\"}\nitems:\n- metadata: {name: a}\n", want: []string{"Widget a"},
		},
		"nested": {
			stream: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}\n",
			want:   []string{"Secret a"},
		},
		"empty":                     {stream: "apiVersion: v1\nkind: List\nitems: []\n"},
		"without items":             {stream: "apiVersion: v1\nkind: List\nitems:\n"},
		"a custom kind with a name": {stream: "apiVersion: example.com/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [x]\n", want: []string{"AllowList a"}},
		"an item that is wrong": {
			stream: "apiVersion: v1\nkind: List\nitems:\n" + named("a") + "- apiVersion: v1\n  kind: Service\n  metadata: {name: x}\n  spec:\n    prots: []\n",
			err:    `all.yaml:9: unknown field "spec.prots"`,
		},
		"an item without a name": {
			stream: "apiVersion: v1\nkind: List\nitems:\n" + named("a") + "- apiVersion: v1\n  kind: Service\n",
			err:    "all.yaml:5: apiVersion, kind and metadata.name are required",
		},
		"an item of an alias": {
			stream: "apiVersion: v1\nkind: List\nitems:\n- &a {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- *a\n",
			err:    "all.yaml:4: ConfigMap a is given twice, first in line 4",
		},
		"too many items": {
			stream: "apiVersion: v1\nkind: ConfigMapList\nitems: [" + strings.Repeat("{},", 10_001) + "]\n", err: "all.yaml:3: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := manifests.Objects("all.yaml", test.stream, builtIn(t))
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) {
					t.Fatalf("want %s\ngot  %v", test.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.GetObjectKind().GroupVersionKind().Kind+" "+o.GetName())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestErrorsNameTheField checks that an error names the line and the field, and does not contain the value.
func TestErrorsNameTheField(t *testing.T) {
	t.Parallel()
	const pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n"
	for name, test := range map[string]struct{ stream, want string }{
		"quantity": {
			pod + "spec:\n  containers:\n  - name: a\n  - name: b\n    resources:\n      limits: {cpu: 1}\n      requests:\n        cpu: hunter2\n",
			`all.yaml:12: field "spec.containers[1].resources.requests.cpu": want a quantity such as 500m or 2Gi`,
		},
		"base64": {
			"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata:\n  a: YQ==\n  b: hunter2!\n",
			`all.yaml:6: field "data.b": want base64, got another character at position 7`,
		},
		"time": {
			pod + "spec: {}\nstatus:\n  startTime: hunter2\n", `all.yaml:7: field "status.startTime": want a time such as 2006-01-02T15:04:05Z`,
		},
		"type in the second item": {
			pod + "spec:\n  containers:\n  - name: a\n  - name: 2\n", `all.yaml:8: field "spec.containers[1].name": want string, got number`,
		},
		"number that is too long": {
			pod + "spec:\n  priority: 123456789123456789\n", `all.yaml:6: field "spec.priority": want int32, got number`,
		},
		"null in a list": {
			pod + "spec:\n  containers:\n  - name: a\n  -\n", "all.yaml:8: yaml: an item of a list is null; write a value or remove the item",
		},
		"no kind":       {"apiVersion: v1\nmetadata: {name: x}\nstringData: {a: hunter2}\n", "all.yaml:1: apiVersion, kind and metadata.name are required"},
		"kind is a map": {"apiVersion: v1\nkind: {a: hunter2}\nmetadata: {name: x}\n", "all.yaml:1: apiVersion, kind and metadata.name are required"},
		"only a string": {"hunter2\n", "all.yaml:1: apiVersion, kind and metadata.name are required"},
		"metadata is a string": {
			"apiVersion: v1\nkind: Secret\nmetadata: hunter2\n", "all.yaml:1: apiVersion, kind and metadata.name are required",
		},
		"generateName": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: x-\n",
			"all.yaml:4: metadata.generateName is set and metadata.name is not; a planned object needs a name that stays the same",
		},
		"twice": {
			pod + "---\n" + strings.Replace(pod, "name: x", "name: z", 1) + "---\n" + pod, "all.yaml:11: Pod x is given twice, first in line 1",
		},
		"twice, in two versions": {
			"apiVersion: a.b/v1\nkind: W\nmetadata: {name: x, namespace: ns}\n---\napiVersion: a.b/v2\nkind: W\nmetadata: {name: x, namespace: ns}\n",
			"all.yaml:5: W ns/x is given twice, first in line 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifests.Objects("all.yaml", test.stream, builtIn(t))
			if err == nil || err.Error() != test.want {
				t.Fatalf("want %s\ngot  %v", test.want, err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("the error contains the value")
			}
		})
	}
}

func TestVersionDirective(t *testing.T) {
	t.Parallel()
	const config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %}\ndata:\n  a: |\n    %YAML 1.2\n"
	stream := "# a\n%YAML 1.2\n" + strings.Replace(config, "name: %", "name: a", 1) + "...\n%YAML 1.2 # b\n" + strings.Replace(config, "name: %", "name: b", 1)
	objects, err := manifests.Objects("all.yaml", stream, scheme(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if got := typed[corev1.ConfigMap](t, object).Data["a"]; got != "%YAML 1.2\n" {
			t.Errorf("%s has %q", object.GetName(), got)
		}
	}
	if _, err := parse(t, map[string]string{"x.yaml": "%YAML 1.2\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{.}}}\n"}).Render("x.yaml", "a"); err != nil {
		t.Error(err)
	}
}
