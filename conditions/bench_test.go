package conditions_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

var names = []string{"Alpha", "Beta", "Gamma", "Delta", "Epsilon"}

func settled(now time.Time) []metav1.Condition {
	m := conditions.NewManager(nil, 1, now)
	for _, name := range names {
		m.MarkTrue(name+"Ready", "Fine", "works")
	}
	m.MarkTrue("Ready", "AllComponentsReady", "All components are ready")
	return m.Conditions()
}

// BenchmarkSteadyPass measures a reconciliation in which no condition changes.
func BenchmarkSteadyPass(b *testing.B) {
	existing := settled(start)
	later := start.Add(time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		m := conditions.NewManager(existing, 1, later)
		for _, name := range names {
			m.MarkTrue(name+"Ready", "Fine", "works", conditions.AsInfo)
		}
		m.MarkTrue("Ready", "AllComponentsReady", "All components are ready")
		if len(m.Transitions()) > 0 || !slices.Equal(existing, m.Conditions()) || len(m.Managed()) != 6 {
			b.Fatal("the reconciliation changed a condition")
		}
	}
}

// TestSteadyPassAllocates limits the allocations of a reconciliation that changes no condition.
func TestSteadyPassAllocates(t *testing.T) {
	existing := settled(start)
	later := start.Add(time.Hour)
	got := testing.AllocsPerRun(100, func() {
		m := conditions.NewManager(existing, 1, later)
		for _, name := range names {
			m.MarkTrue(name+"Ready", "Fine", "works", conditions.AsInfo)
		}
		m.Transitions()
		m.Conditions()
		m.Managed()
	})
	if got > 4 {
		t.Errorf("%v allocations, want at most 4: the manager, its entries, the list, the types", got)
	}
}
