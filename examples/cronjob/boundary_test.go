package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

// TestOnlyTheSDKWrites: children, statuses, watches and finalizers go through the SDK alone.
func TestOnlyTheSDKWrites(t *testing.T) {
	t.Parallel()
	lint.Boundary(t, ".")
}
