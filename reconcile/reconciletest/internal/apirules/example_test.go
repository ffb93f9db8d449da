package apirules_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apirules"
)

func ExampleValidate() {
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "Web", "namespace": "default"},
		"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
	}}
	for _, wrong := range apirules.Validate(nil, service) {
		fmt.Println(wrong.Type, wrong.Field)
	}
	// Output:
	// Invalid value metadata.name
}
