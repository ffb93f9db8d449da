package manifests_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/manifests"
)

const stream = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  quoted: "true"
---
# nothing
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: big}
spec: {size: 3}
`

func TestObjects(t *testing.T) {
	t.Parallel()
	objects, err := manifests.Objects("all.yaml", stream, scheme(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 2 {
		t.Fatalf("want 2 objects, got %d: %v", len(objects), objects)
	}
	settings := typed[corev1.ConfigMap](t, objects[0])
	if diff := cmp.Diff(map[string]string{"quoted": "true"}, settings.Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	big, ok := objects[1].(*unstructured.Unstructured)
	if !ok {
		t.Fatalf("want an unstructured Widget, got %T", objects[1])
	}
	if diff := cmp.Diff(map[string]any{"size": int64(3)}, big.Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	untyped, err := manifests.Objects("all.yaml", stream, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := untyped[0].(*unstructured.Unstructured); !ok {
		t.Errorf("without a scheme: want an unstructured ConfigMap, got %T", untyped[0])
	}
}

func TestObjectsErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ reason, stream, want string }{
		"UnknownField": {"An unknown field of a typed object is an error.", stream + "---\napiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec:\n  prots: []\n", `all.yaml:18: unknown field "spec.prots"`},
		"NoName":       {"An object must have a name.", "apiVersion: v1\nkind: Service\n", "all.yaml:1: apiVersion, kind and metadata.name are required"},
		"NoKind":       {"A document must have a kind.", stream + "---\nname: x\n", "all.yaml:14: "},
		"Syntax":       {"Invalid YAML is reported with its line.", "apiVersion: v1\nkind: a: b\n", "all.yaml:2: yaml: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifests.Objects("all.yaml", test.stream, scheme(t))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("%s\nwant %s\ngot  %v", test.reason, test.want, err)
			}
			if located := (*manifests.Error)(nil); !errors.As(err, &located) {
				t.Errorf("got %T, want a manifests.Error", err)
			}
		})
	}
}

func ExampleObjects() {
	objects, err := manifests.Objects("kustomize", stream, nil) // the output of a renderer
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, object := range objects {
		fmt.Println(object.GetObjectKind().GroupVersionKind().Kind, object.GetName())
	}
	// Output:
	// ConfigMap settings
	// Widget big
}
