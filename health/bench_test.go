package health_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// healthy are five components as they are most of the time.
func healthy() []health.Component {
	d := &appsv1.Deployment{}
	d.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	var list []health.Component
	for _, name := range []string{"Configuration", "Model", "Server", "Route", "Autoscaler"} {
		c := health.Deployment(d).As(name)
		c.Dependency, c.Child = health.Downstream, true
		list = append(list, c)
	}
	return list
}

// steady is a pass in which no condition changes.
func steady(stored []metav1.Condition, components []health.Component, now time.Time) bool {
	m := conditions.NewManager(stored, 1, now)
	a := health.NewAssessor(m, health.Options{Now: now})
	a.Observe(components...)
	assessment := a.Summarize()
	return assessment.State == health.Ready && len(m.Transitions()) == 0 && len(m.Managed()) == 6 && conditions.Equal(stored, m.Conditions())
}

func BenchmarkSteadyPass(b *testing.B) {
	components := healthy()
	stored, _ := pass(nil, 1, health.Options{Now: start}, components)
	later := start.Add(time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		if !steady(stored, components, later) {
			b.Fatal("the pass changed something")
		}
	}
}

// TestSteadyPassAllocates keeps the cost of a pass that changes nothing, five healthy components.
func TestSteadyPassAllocates(t *testing.T) {
	components := healthy()
	stored, _ := pass(nil, 1, health.Options{Now: start}, components)
	later := start.Add(time.Hour)
	if got := testing.AllocsPerRun(100, func() { steady(stored, components, later) }); got > 10 {
		t.Errorf("%v allocations, want at most 10", got)
	}
}

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
		health.Pods(list)
	}
}

func BenchmarkOfUnstructured(b *testing.B) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Fine"}}},
	}}
	b.ReportAllocs()
	for b.Loop() {
		health.Of(u)
	}
}
