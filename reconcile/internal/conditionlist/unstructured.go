package conditionlist

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// getUnstructured returns the valid conditions in status.conditions.
func getUnstructured(object runtime.Unstructured) (out []metav1.Condition) {
	found, _, _ := unstructured.NestedFieldNoCopy(object.UnstructuredContent(), "status", "conditions")
	list, _ := found.([]any)
	for _, item := range list {
		content, _ := item.(map[string]any)
		var c metav1.Condition
		if runtime.DefaultUnstructuredConverter.FromUnstructured(content, &c) == nil && c.Type != "" {
			out = append(out, c)
		}
	}
	return out
}

// setUnstructured replaces status.conditions. It does not change a status that is not an object.
func setUnstructured(object runtime.Unstructured, list []metav1.Condition) {
	out := make([]any, 0, len(list))
	for i := range list {
		if content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&list[i]); err == nil {
			out = append(out, content)
		}
	}
	_ = unstructured.SetNestedSlice(object.UnstructuredContent(), out, "status", "conditions")
}
