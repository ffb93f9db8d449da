package templates_test

import (
	"fmt"
	"testing"
)

// candidates returns n profiles of every kind in the vectors.
func candidates(n int) []profile {
	status := []string{"Ready", "Ready", "Ready", "Pending"}
	gpus := []string{"MI325X", "MI300X", "MI250X", "MI210", "MI355X"}
	metrics := []string{"latency", "throughput", ""}
	precisions := []string{"fp4", "int4", "fp8", "int8", "fp16", "bf16", "fp32"}
	scopes := []string{"Namespace", "Cluster"}
	all := make([]profile, n)
	for i := range all {
		all[i] = profile{
			Name: fmt.Sprintf("profile-%d", i*7919%n), Status: status[i%len(status)], Scope: scopes[i%len(scopes)],
			Profile: features{
				Type: "optimized", GPU: gpus[i%len(gpus)], GPUCount: 1 + i%8, Metric: metrics[i%len(metrics)], Precision: precisions[i%len(precisions)],
			},
		}
	}
	return all
}

func busy() *vector {
	v := &vector{}
	v.Input.AvailableGPUs = []string{"MI325X", "MI300X", "MI250X", "MI210", "MI355X"}
	v.Input.AllowUnoptimized = true
	v.Input.Overrides = &wish{}
	return v
}

func BenchmarkSelect(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, all := busy().selector(), candidates(n)
			b.ReportAllocs()
			for b.Loop() {
				s.Select(all)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/candidate")
		})
	}
}

func BenchmarkExplain(b *testing.B) {
	result := busy().selector().Select(candidates(100))
	b.ReportAllocs()
	for b.Loop() {
		_ = result.Explain()
	}
}

// TestSelectAllocations checks that selecting takes at most one allocation per candidate, including those of the
// caller's functions.
func TestSelectAllocations(t *testing.T) {
	const n = 10_000
	s, all := busy().selector(), candidates(n)
	if allocs := testing.AllocsPerRun(2, func() { s.Select(all) }); allocs > n {
		t.Errorf("%.0f allocations for %d candidates, want at most one each", allocs, n)
	} else {
		t.Logf("%.0f allocations for %d candidates", allocs, n)
	}
}
