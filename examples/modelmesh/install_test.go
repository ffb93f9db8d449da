package main

import (
	"os"
	"testing"

	"github.com/reconcilekit/reconcilekit/examples/internal/installed"
)

// TestInstalled: what is shipped is enough to run.
func TestInstalled(t *testing.T) {
	installed.Run(t, modelmesh(os.Getenv), []string{"config/foreign"}, nil)
}
