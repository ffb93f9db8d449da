package expect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/reconcilekit/reconcilekit/layers"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"
)

// Children compares the children that a plan creates or changes with the wanted documents, which are separated by "---" lines. It
// returns the differences, -want +got. The order does not matter. Children of kinds in the scheme are compared as Go types:
// different notations of a quantity are equal, and an unknown field fails the test. Other children are compared field by field.
func Children(t testing.TB, scheme *runtime.Scheme, want string, plan reconcile.PlanResult) string {
	t.Helper()
	var planned []any
	for i := range plan.Children {
		switch child := &plan.Children[i]; {
		case child.Existing:
		case child.Configuration != nil:
			planned = append(planned, child.Configuration)
		default:
			planned = append(planned, child.Object)
		}
	}
	return Objects(t, scheme, want, planned...)
}

// Objects compares objects, or apply configurations, like [Children].
func Objects[T any](t testing.TB, scheme *runtime.Scheme, want string, got ...T) string {
	t.Helper()
	wanted, planned := map[string]runtime.Object{}, map[string]runtime.Object{}
	add := func(to map[string]runtime.Object, document []byte) {
		t.Helper()
		name, object := decode(t, scheme, document)
		if to[name] != nil {
			t.Fatalf("%s is listed twice", name)
		}
		to[name] = object
	}
	for document := range strings.SplitSeq(want, "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		content, err := yaml.YAMLToJSONStrict([]byte(document))
		if err != nil {
			t.Fatalf("read the wanted document: %v\n%s", err, document)
		}
		add(wanted, content)
	}
	for _, object := range got {
		content, err := json.Marshal(withKind(scheme, object))
		if err != nil {
			t.Fatal(err)
		}
		add(planned, content)
	}
	var differences strings.Builder
	for _, name := range slices.Sorted(maps.Keys(layers.Maps(wanted, planned))) {
		switch w, p := wanted[name], planned[name]; {
		case w == nil:
			differences.WriteString("+ " + name + "\n")
		case p == nil:
			differences.WriteString("- " + name + "\n")
		default:
			if diff := cmp.Diff(w, p, cmpopts.EquateEmpty()); diff != "" {
				differences.WriteString(name + ":\n" + diff)
			}
		}
	}
	return differences.String()
}

// withKind returns a typed object with its kind, which a plan may omit, and every other value as it is.
func withKind(scheme *runtime.Scheme, value any) any {
	object, ok := value.(runtime.Object)
	if !ok || !object.GetObjectKind().GroupVersionKind().Empty() {
		return value
	}
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		return value
	}
	object = object.DeepCopyObject()
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	return object
}

// decode decodes an object, and returns it with its kind and name.
func decode(t testing.TB, scheme *runtime.Scheme, document []byte) (name string, object runtime.Object) {
	t.Helper()
	untyped := &unstructured.Unstructured{}
	if err := untyped.UnmarshalJSON(document); err != nil {
		t.Fatalf("read %s: %v", document, err)
	}
	object = untyped
	if scheme.Recognizes(untyped.GroupVersionKind()) {
		decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
		typed, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("read %s: %v", document, err)
		}
		object = typed
	}
	return fmt.Sprintf("%s %s/%s", untyped.GetKind(), untyped.GetNamespace(), untyped.GetName()), object
}
