package objects_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

var configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")

func TestEqual(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b any
		want bool
	}{
		"nil and an empty map":  {map[string]any{"a": nil}, map[string]any{"a": nil}, true},
		"empty lists":           {[]any{}, []any(nil), true},
		"integers":              {int64(1), int64(1), true},
		"a number and its text": {int64(1), "1", false},
		"another order":         {[]any{"a", "b"}, []any{"b", "a"}, false},
	} {
		if got := objects.Equal(c.a, c.b); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestSortedKeys(t *testing.T) {
	t.Parallel()
	items := map[types.NamespacedName]int{{Namespace: "b", Name: "a"}: 1, {Namespace: "a", Name: "z"}: 2, {Name: "m"}: 3, {Namespace: "a", Name: "b"}: 4}
	want := []types.NamespacedName{{Name: "m"}, {Namespace: "a", Name: "b"}, {Namespace: "a", Name: "z"}, {Namespace: "b", Name: "a"}}
	if diff := cmp.Diff(want, objects.SortedKeys(items)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompareKinds(t *testing.T) {
	t.Parallel()
	kind := func(text string) schema.GroupVersionKind {
		parts := strings.Split(text, "/")
		return schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}
	}
	want := []schema.GroupVersionKind{kind("/v1/Z"), kind("apps/v1/A"), kind("apps/v1/B"), kind("apps/v2/A"), kind("batch/v1/A")}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, objects.CompareKinds)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		gvk schema.GroupVersionKind
		key types.NamespacedName
	}{
		"ConfigMap default/a":      {configMaps, types.NamespacedName{Namespace: "default", Name: "a"}},
		"Namespace a":              {corev1.SchemeGroupVersion.WithKind("Namespace"), types.NamespacedName{Name: "a"}},
		"Widget.example.com web/a": {schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, types.NamespacedName{Namespace: "web", Name: "a"}},
	} {
		if got := objects.Name(c.gvk, c.key); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestListedKind(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	widgets := &unstructured.UnstructuredList{}
	widgets.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "WidgetList"})
	for list, want := range map[client.ObjectList]string{
		&corev1.ConfigMapList{}: "/v1, Kind=ConfigMap", widgets: "example.com/v1, Kind=Widget",
	} {
		if got, err := objects.ListedKind(list, scheme); err != nil || got.String() != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if got, err := objects.ListedKind(&corev1.ConfigMapList{}, runtime.NewScheme()); err == nil {
		t.Errorf("%s of a scheme without it", got)
	}
}

func TestMaps(t *testing.T) {
	t.Parallel()
	one, two := map[string]any{"a": "1"}, map[string]any{"a": "2"}
	m := map[string]any{"list": []any{one, "text", nil, two}, "text": "text"}
	for key, want := range map[string][]map[string]any{"list": {one, two}, "text": {}, "nothing": {}} {
		if diff := cmp.Diff(want, objects.Maps(m, key)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	m := map[string]any{"a": "1", "b": nil, "c": "3"}
	if diff := cmp.Diff(map[string]any{"c": "3"}, objects.Without(m, "a", "z")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(m) != 3 {
		t.Errorf("the map was changed to %v", m)
	}
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	got := objects.Integers(map[string]any{"whole": 2.0, "half": 2.5, "large": 1e300, "text": "2", "list": []any{3.0, map[string]any{"deep": -4.0}}})
	want := map[string]any{"whole": int64(2), "half": 2.5, "large": 1e300, "text": "2", "list": []any{int64(3), map[string]any{"deep": int64(-4)}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMatchesFields(t *testing.T) {
	t.Parallel()
	broken := errors.New("no such index")
	values := func(name string) ([]string, error) {
		switch name {
		case "spec.color":
			return []string{"red", "green"}, nil
		case "spec.size":
			return nil, nil
		}
		return nil, broken
	}
	for text, want := range map[string]bool{
		"spec.color=red": true, "spec.color=green": true, "spec.color=blue": false, "spec.size=1": false, "spec.color=red,spec.size=1": false,
		"spec.color!=blue": true, "spec.color!=red": false, "spec.size!=1": true, "spec.color=red,spec.size!=1": true,
	} {
		if got, err := objects.MatchesFields(fields.ParseSelectorOrDie(text), values); got != want || err != nil {
			t.Errorf("%s: %t, %v, want %t", text, got, err, want)
		}
	}
	if got, err := objects.MatchesFields(nil, values); !got || err != nil {
		t.Errorf("no selector: %t, %v", got, err)
	}
	if got, err := objects.MatchesFields(fields.ParseSelectorOrDie("spec.color=red,spec.mode=1"), values); got || !errors.Is(err, broken) {
		t.Errorf("a field without an index: %t, %v", got, err)
	}
}

func TestToUnstructured(t *testing.T) {
	t.Parallel()
	typed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"color": "red"}}
	loose := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "creationTimestamp": nil}, "data": map[string]any{"color": "red"},
	}}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"color": "red"},
	}
	for _, obj := range []runtime.Object{typed, loose} {
		got, err := objects.ToUnstructured(obj, configMaps)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Object); diff != "" {
			t.Errorf("%T (-want +got):\n%s", obj, diff)
		}
	}
	if loose.GetKind() != "" || len(loose.Object["metadata"].(map[string]any)) != 2 {
		t.Errorf("the object was changed to %v", loose.Object)
	}
	if got, err := objects.ToUnstructured(&unstructured.Unstructured{}, configMaps); err != nil || got.GetKind() != "ConfigMap" {
		t.Errorf("of an empty object: %v, %v", got, err)
	}
}

func TestDropNulls(t *testing.T) {
	t.Parallel()
	m := map[string]any{"a": nil, "b": map[string]any{"c": nil, "d": "1"}, "e": []any{map[string]any{"f": nil}, nil, "g"}}
	objects.DropNulls(m)
	if diff := cmp.Diff(map[string]any{"b": map[string]any{"d": "1"}, "e": []any{map[string]any{}, nil, "g"}}, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFromUnstructured(t *testing.T) {
	t.Parallel()
	from := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "labels": map[string]any{"of": "web"}}, "data": map[string]any{"color": "red"},
	}}
	typed := &corev1.ConfigMap{Data: map[string]string{"from": "before"}}
	loose, partial := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	for _, into := range []client.Object{typed, loose, partial} {
		if err := objects.FromUnstructured(from, into); err != nil {
			t.Fatal(err)
		}
		if into.GetName() != "a" || into.GetLabels()["of"] != "web" {
			t.Errorf("%T: %v", into, into)
		}
	}
	if diff := cmp.Diff(map[string]string{"color": "red"}, typed.Data); diff != "" {
		t.Errorf("what was there before (-want +got):\n%s", diff)
	}
	if partial.Kind != "ConfigMap" {
		t.Errorf("the metadata is of the kind %q", partial.Kind)
	}
	loose.SetName("b")
	if from.GetName() != "a" {
		t.Error("a copy changes its original")
	}
	from.Object["data"] = "text"
	if err := objects.FromUnstructured(from, typed); err == nil || !strings.Contains(err.Error(), "convert ConfigMap a: ") {
		t.Errorf("of a wrong type: %v", err)
	}
}
