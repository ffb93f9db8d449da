package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/examples/internal/installed"
)

// TestInstalled checks that the operator runs with only the files of the installation.
func TestInstalled(t *testing.T) {
	installed.Run(t, aim(), env.CRDPaths, nil)
}
