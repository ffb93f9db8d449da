package objects

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Equal compares decoded JSON; nil and empty are equal.
func Equal(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

// Labels returns the labels of an object, for selectors.
func Labels(u *unstructured.Unstructured) labels.Labels {
	metadata, _ := u.Object["metadata"].(map[string]any)
	content, _ := metadata["labels"].(map[string]any)
	return contentLabels(content)
}

// contentLabels are decoded labels, used without a copy.
type contentLabels map[string]any

// Lookup implements [labels.Labels].
func (l contentLabels) Lookup(label string) (value string, exists bool) {
	value, exists = l[label].(string)
	return value, exists
}

// Has implements [labels.Labels].
func (l contentLabels) Has(label string) bool {
	_, exists := l.Lookup(label)
	return exists
}

// Get implements [labels.Labels].
func (l contentLabels) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}

// SortedKeys returns the keys of objects by namespace and name.
func SortedKeys[V any](items map[types.NamespacedName]V) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(items))
	for key := range items {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, CompareKeys)
	return keys
}

// CompareKeys orders keys by namespace, then by name.
func CompareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// ListedKind returns the kind of the elements of a list.
func ListedKind(list client.ObjectList, scheme *runtime.Scheme) (schema.GroupVersionKind, error) {
	gvk, err := apiutil.GVKForObject(list, scheme)
	if err != nil {
		return gvk, err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	return gvk, nil
}

// CompareKinds orders kinds by group, version and kind.
func CompareKinds(a, b schema.GroupVersionKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
}

// Name formats an object as kind, namespace and name.
func Name(gvk schema.GroupVersionKind, key types.NamespacedName) string {
	kind := gvk.Kind
	if gvk.Group != "" {
		kind += "." + gvk.Group
	}
	if key.Namespace == "" {
		return fmt.Sprintf("%s %s", kind, key.Name)
	}
	return fmt.Sprintf("%s %s/%s", kind, key.Namespace, key.Name)
}

// Maps returns the elements of a list of maps.
func Maps(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	out := make([]map[string]any, 0, len(list))
	for _, element := range list {
		if e, ok := element.(map[string]any); ok {
			out = append(out, e)
		}
	}
	return out
}

// Without returns a shallow copy without the keys and without nulls.
func Without(m map[string]any, keys ...string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		if v != nil {
			out[k] = v
		}
	}
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

// Integers converts whole floats, which YAML decoding returns for all numbers, to int64, as in decoded JSON.
func Integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k := range v {
			v[k] = Integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = Integers(v[i])
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	}
	return value
}

// MatchesFields reports whether an object matches a field selector; values returns the values of a field.
func MatchesFields(selector fields.Selector, values func(name string) ([]string, error)) (bool, error) {
	if selector == nil {
		return true, nil
	}
	for _, requirement := range selector.Requirements() {
		found, err := values(requirement.Field)
		unwanted := requirement.Operator == selection.NotEquals
		if err != nil || slices.Contains(found, requirement.Value) == unwanted {
			return false, err
		}
	}
	return true, nil
}
