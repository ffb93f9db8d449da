package manifests

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Change edits an object of [Set.Render] or [Objects] as the Go type T. It updates only the fields that change modifies. All other
// content of the object is kept, also values that the Go type omits:
//
//	err := manifests.Change(object, func(d *appsv1.Deployment) { d.Spec.Replicas = nil })
//
// A field that change sets to a value that the Go type omits (false or "" with omitempty) is removed. To plan such a value, use
// unstructured.SetNestedField. If the object does not decode as a T, Change returns an error and does not modify it. An object of type T
// is passed to change directly.
func Change[T any](object Object, change func(*T)) error {
	if typed, ok := any(object).(*T); ok {
		change(typed)
		return nil
	}
	written, ok := object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("change %T: want unstructured content or a %T", object, new(T))
	}
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(written.Object, typed); err != nil {
		return fmt.Errorf("change %s %s as %T: %w", written.GetKind(), written.GetName(), typed, wrongValue(err))
	}
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return fmt.Errorf("change %s %s: encode %T: %w", written.GetKind(), written.GetName(), typed, err)
	}
	change(typed)
	after, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return fmt.Errorf("change %s %s: encode %T: %w", written.GetKind(), written.GetName(), typed, err)
	}
	written.Object, _ = edited(written.Object, before, after).(map[string]any)
	return nil
}

// edited applies the difference between two values to the written value.
func edited(written, before, after any) any {
	if reflect.DeepEqual(before, after) {
		return written
	}
	switch a := after.(type) {
	case map[string]any:
		b, wasMap := before.(map[string]any)
		w, isMap := written.(map[string]any)
		if !wasMap || !isMap {
			return after
		}
		for key := range b {
			if _, stays := a[key]; !stays {
				delete(w, key)
			}
		}
		for key, value := range a {
			was, had := b[key]
			switch given, writes := w[key]; {
			case writes:
				w[key] = edited(given, was, value)
			case !had || !reflect.DeepEqual(was, value):
				w[key] = value
			}
		}
		return w
	case []any:
		b, wasList := before.([]any)
		w, isList := written.([]any)
		if !wasList || !isList || len(b) != len(w) {
			return after
		}
		return editedItems(w, b, a)
	}
	return after
}

// editedItems keeps the written content of items that remain. It matches items by equality, then by name, or by position if they have no
// name.
func editedItems(written, before, after []any) []any {
	out := make([]any, len(after))
	for i, item := range after {
		j := slices.IndexFunc(before, func(b any) bool { return reflect.DeepEqual(b, item) })
		if j < 0 {
			if name := nameOf(item); name != nil {
				j = slices.IndexFunc(before, func(b any) bool { return nameOf(b) == name })
			} else if len(before) == len(after) && nameOf(before[i]) == nil {
				j = i
			}
		}
		if out[i] = item; j >= 0 {
			out[i] = edited(runtime.DeepCopyJSONValue(written[j]), before[j], item)
		}
	}
	return out
}

// nameOf returns the name of an item, nil for none.
func nameOf(item any) any {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	if name == "" {
		return nil
	}
	return name
}
