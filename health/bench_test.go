package health_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// healthy returns five components in their usual state.
func healthy() []health.Component {
	var list []health.Component
	for _, name := range []string{"Configuration", "Model", "Server", "Route", "Autoscaler"} {
		list = append(list, health.Component{
			Name: name, State: health.Ready, Reason: "DeploymentReady", Message: "All replicas are ready", Dependency: health.Downstream, Child: true,
		})
	}
	return list
}

// steady runs a reconciliation in which no condition changes.
func steady(stored []metav1.Condition, components []health.Component, now time.Time) bool {
	m := conditions.NewManager(stored, 1, now)
	a := health.NewAssessor(m, health.Options{Now: now})
	a.Observe(components...)
	assessment := a.Summarize()
	return assessment.State == health.Ready && len(m.Transitions()) == 0 && len(m.Managed()) == 6 && slices.Equal(stored, m.Conditions())
}

func BenchmarkSteadyPass(b *testing.B) {
	components := healthy()
	stored, _ := pass(nil, 1, health.Options{Now: start}, components)
	later := start.Add(time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		if !steady(stored, components, later) {
			b.Fatal("the reconciliation changed a condition")
		}
	}
}

// TestSteadyPassAllocates limits the allocations of a reconciliation that changes no condition, with five healthy
// components.
func TestSteadyPassAllocates(t *testing.T) {
	components := healthy()
	stored, _ := pass(nil, 1, health.Options{Now: start}, components)
	later := start.Add(time.Hour)
	if got := testing.AllocsPerRun(100, func() { steady(stored, components, later) }); got > 10 {
		t.Errorf("%v allocations, want at most 10", got)
	}
}
