package objects

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ToUnstructured converts an object to the form in which clusters are compared and stored, without nulls.
func ToUnstructured(obj runtime.Object, gvk schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	var content map[string]any
	if u, ok := obj.(*unstructured.Unstructured); ok {
		content = u.DeepCopy().Object
	} else {
		var err error
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(obj); err != nil {
			return nil, fmt.Errorf("convert %s: %w", gvk, err)
		}
	}
	if content == nil {
		content = map[string]any{}
	}
	DropNulls(content)
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// DropNulls removes keys with a null value, at any depth.
func DropNulls(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			DropNulls(v)
		case []any:
			for _, e := range v {
				if e, ok := e.(map[string]any); ok {
					DropNulls(e)
				}
			}
		}
	}
}

// FromUnstructured fills an object of any representation.
func FromUnstructured(u *unstructured.Unstructured, into client.Object) error {
	switch into := into.(type) {
	case *unstructured.Unstructured:
		into.Object = u.DeepCopy().Object
		return nil
	case *metav1.PartialObjectMetadata:
		*into = *meta.AsPartialObjectMetadata(u.DeepCopy())
		into.SetGroupVersionKind(u.GroupVersionKind())
		return nil
	}
	value := reflect.ValueOf(into).Elem()
	value.SetZero()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return fmt.Errorf("convert %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}
