package inspect_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/health/inspect"
)

func BenchmarkPods(b *testing.B) {
	var list []corev1.Pod
	for i := range 20 {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%02d", i)}}
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c"}}
		list = append(list, p)
	}
	b.ReportAllocs()
	for b.Loop() {
		inspect.Pods(list, inspect.PodFacts{})
	}
}

func BenchmarkOfUnstructured(b *testing.B) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Fine"}}},
	}}
	b.ReportAllocs()
	for b.Loop() {
		inspect.Of(u)
	}
}
