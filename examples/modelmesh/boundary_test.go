package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

// TestOnlyTheSDKWrites checks that only the library writes children and statuses and registers watches and finalizers.
func TestOnlyTheSDKWrites(t *testing.T) {
	t.Parallel()
	lint.Boundary(t, ".", "standin")
}
