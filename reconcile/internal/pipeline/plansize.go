package pipeline

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// largestChild returns the share of each kind in a plan as text, for the three largest kinds.
func largestChild(plan *apply.Plan, size func(*apply.Child) int, unit string) string {
	sizes := map[string]int{}
	for i := range plan.Children {
		sizes[kindOf(&plan.Children[i])] += size(&plan.Children[i])
	}
	if unit == "" && len(plan.Deletes) > 0 {
		sizes["to delete"] = len(plan.Deletes)
	}
	kinds := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		if sizes[a] != sizes[b] {
			return sizes[b] - sizes[a]
		}
		return strings.Compare(a, b)
	})
	const named = 3
	parts := make([]string, 0, named)
	for _, kind := range kinds[:min(named, len(kinds))] {
		parts = append(parts, fmt.Sprintf("%d%s %s", sizes[kind], unit, kind))
	}
	return strings.Join(parts, ", ")
}

// kindOf returns the kind of a child, or the name of its Go type if the child has no kind.
func kindOf(child *apply.Child) string {
	if child.Object == nil {
		return reflect.Indirect(reflect.ValueOf(child.Configuration)).Type().Name()
	}
	if gvk := child.Object.GetObjectKind().GroupVersionKind(); gvk != (schema.GroupVersionKind{}) {
		return gvk.Kind
	}
	return reflect.Indirect(reflect.ValueOf(child.Object)).Type().Name()
}

// sizeOf returns the size of a child: the encoded size for kinds of Kubernetes, the sum of the strings for others.
func sizeOf(child *apply.Child) int {
	if sized, ok := child.Object.(interface{ Size() int }); ok {
		return sized.Size()
	}
	if child.Object != nil {
		return sizeOfValue(reflect.ValueOf(child.Object))
	}
	return sizeOfValue(reflect.ValueOf(child.Configuration))
}

func sizeOfValue(v reflect.Value) int {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return 0
		}
		return sizeOfValue(v.Elem())
	case reflect.String:
		return v.Len()
	case reflect.Struct:
		size := 0
		for i := range v.NumField() { //nolint:modernize // the iterator over fields allocates
			size += sizeOfValue(v.Field(i))
		}
		return size
	case reflect.Map:
		size := 0
		if texts, ok := textsOf(v); ok {
			for key, text := range texts {
				size += len(key) + len(text)
			}
			return size
		}
		for entries := v.MapRange(); entries.Next(); {
			size += sizeOfValue(entries.Key()) + sizeOfValue(entries.Value())
		}
		return size
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		size := 0
		for i := range v.Len() {
			size += sizeOfValue(v.Index(i))
		}
		return size
	default:
		return 1
	}
}

// textsOf returns v as a map of strings, such as labels, which can be iterated without an allocation for each entry.
func textsOf(v reflect.Value) (map[string]string, bool) {
	if v.Type() != reflect.TypeFor[map[string]string]() || !v.CanInterface() {
		return nil, false
	}
	texts, ok := v.Interface().(map[string]string)
	return texts, ok
}
