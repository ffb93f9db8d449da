package verdict_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/reconcilekit/reconcilekit/health/verdict"
)

func BenchmarkCategorize(b *testing.B) {
	err := fmt.Errorf("read: %w", failed(verdict.Infrastructure))
	b.ReportAllocs()
	for b.Loop() {
		verdict.Categorize(err)
	}
}

func BenchmarkBlocking(b *testing.B) {
	components := []verdict.Component{
		{Name: "Model", State: verdict.Ready},
		{Name: "Server", Child: true, Errors: []error{failed(verdict.InvalidSpec)}},
		{Name: "Database", Dependency: verdict.Upstream, Errors: []error{errors.Join(failed(verdict.Auth), failed(verdict.Conflict))}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(verdict.Blocking(components)) != 1 {
			b.Fatal("another number of errors blocks")
		}
	}
}
