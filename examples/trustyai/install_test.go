package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/examples/internal/installed"
)

// TestInstalled: what is shipped is enough to run.
func TestInstalled(t *testing.T) {
	installed.Run(t, trustyai(), []string{"config/foreign"}, nil)
}
