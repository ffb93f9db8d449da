package health_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/reconcilekit/reconcilekit/health"
)

func BenchmarkCategorize(b *testing.B) {
	err := fmt.Errorf("read: %w", failed(health.Infrastructure))
	b.ReportAllocs()
	for b.Loop() {
		health.Categorize(err)
	}
}

func BenchmarkBlocking(b *testing.B) {
	components := []health.Component{
		{Name: "Model", State: health.Ready},
		{Name: "Server", Child: true, Errors: []error{failed(health.InvalidSpec)}},
		{Name: "Database", Dependency: health.Upstream, Errors: []error{errors.Join(failed(health.Auth), failed(health.Conflict))}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(health.Blocking(components)) != 1 {
			b.Fatal("unexpected number of blocking errors")
		}
	}
}
