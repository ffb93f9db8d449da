package apirules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apirules"
)

const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}}}}`

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, new string
		want     []string // the rejected fields
	}{
		"a valid Deployment":  {new: deployment},
		"a Deployment scaled": {old: deployment, new: strings.Replace(deployment, "spec: {", "spec: {replicas: 3, ", 1)},
		"negative replicas":   {new: strings.Replace(deployment, "spec: {", "spec: {replicas: -1, ", 1), want: []string{"spec.replicas"}},
		"another selector": {
			old: deployment, new: strings.ReplaceAll(deployment, "app: web", "app: other"), want: []string{"spec.selector"},
		},
		"no selector": {
			new: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {}}`, want: []string{"spec.selector"},
		},
		"labels that the selector does not match": {
			new: strings.Replace(deployment, "labels: {app: web}", "labels: {app: other}", 1), want: []string{"spec.template.metadata.labels"},
		},
		"a name in capitals": {
			new: `{apiVersion: v1, kind: ConfigMap, metadata: {name: Web}}`, want: []string{"metadata.name"},
		},
		"a Service with a dot in its name": {
			new: `{apiVersion: v1, kind: Service, metadata: {name: web.v1}}`, want: []string{"metadata.name"},
		},
		"a ConfigMap with a dot in its name": {new: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web.v1}}`},
		"a Role with a colon in its name": {
			new: `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: "system:web"}}`,
		},
		"a Role with a slash in its name": {
			new: `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a/b}}`, want: []string{"metadata.name"},
		},
		"a label that is too long": {
			new:  `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {a: ` + strings.Repeat("x", 64) + `}}}`,
			want: []string{"metadata.labels"},
		},
		"two controllers": {
			new: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, ownerReferences: [
			  {apiVersion: v1, kind: Pod, name: a, uid: a, controller: true}, {apiVersion: v1, kind: Pod, name: b, uid: b, controller: true}]}}`,
			want: []string{"metadata.ownerReferences"},
		},
		"an owner without a UID": {
			new: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, ownerReferences: [
			  {apiVersion: v1, kind: Pod, name: a}]}}`,
			want: []string{"metadata.ownerReferences[0].uid"},
		},
		"an empty owner reference": {
			new:  `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, ownerReferences: [{controller: false}]}}`,
			want: []string{"metadata.ownerReferences[0].apiVersion", "metadata.ownerReferences[0].kind", "metadata.ownerReferences[0].name", "metadata.ownerReferences[0].uid"},
		},
		"keys with spaces": {
			new:  `{apiVersion: v1, kind: Secret, metadata: {name: web}, data: {"c d": e, "a b": c, "e f": g, good: h}}`,
			want: []string{"data[a b]", "data[c d]", "data[e f]"},
		},
		"a key with a space": {
			new: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {"a b": c}}`, want: []string{"data[a b]"},
		},
		"another type of a Secret": {
			old:  `{apiVersion: v1, kind: Secret, metadata: {name: web}, type: Opaque}`,
			new:  `{apiVersion: v1, kind: Secret, metadata: {name: web}, type: kubernetes.io/tls}`,
			want: []string{"type"},
		},
		"data of an immutable ConfigMap": {
			old:  `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, immutable: true, data: {a: b}}`,
			new:  `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, immutable: true, data: {a: c}}`,
			want: []string{"data"},
		},
		"another role of a binding": {
			old:  `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web}, roleRef: {name: a}}`,
			new:  `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web}, roleRef: {name: b}}`,
			want: []string{"roleRef"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var old *unstructured.Unstructured
			if test.old != "" {
				old = object(t, test.old)
			}
			var got []string
			for _, err := range apirules.Validate(old, object(t, test.new)) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("refused fields (-want +got):\n%s", diff)
			}
		})
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.UnmarshalJSON(data); err != nil { // with integers, as they are stored
		t.Fatal(err)
	}
	return u
}
