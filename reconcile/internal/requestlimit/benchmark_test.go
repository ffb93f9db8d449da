package requestlimit_test

import (
	"context"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/requestlimit"
)

// BenchmarkWith is what a pass costs that sends nothing.
func BenchmarkWith(b *testing.B) {
	for name, limit := range map[string]int{"limit": 100, "none": -1} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := requestlimit.Read(requestlimit.With(context.Background(), limit, "reason")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
