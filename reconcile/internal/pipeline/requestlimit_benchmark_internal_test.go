package pipeline

import (
	"context"
	"testing"
)

// BenchmarkWith measures the limit for a reconciliation that sends nothing.
func BenchmarkWith(b *testing.B) {
	for name, limit := range map[string]int{"limit": 100, "none": -1} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := CountRead(limitRequests(context.Background(), limit, "reason")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
