package subject

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// controllerOf returns the controller reference to the owner.
func controllerOf(owner *widget.Widget) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(owner, widget.GroupVersion.WithKind("Widget"))}
}

// intent returns the child for server-side apply: unstructured, without the nulls and empty structs of the Go type.
func intent(child client.Object, owner *widget.Widget) (*unstructured.Unstructured, error) {
	child.SetOwnerReferences(controllerOf(owner))
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child)
	if err != nil {
		return nil, err
	}
	prune(fields)
	return &unstructured.Unstructured{Object: fields}, nil
}

// prune removes nulls and empty maps, deepest first. The children of the benchmark have no intentionally empty map.
func prune(fields map[string]any) {
	for key, value := range fields {
		if empty(value) {
			delete(fields, key)
		}
	}
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		prune(v)
		return len(v) == 0
	case []any:
		for _, item := range v {
			empty(item)
		}
	}
	return false
}
