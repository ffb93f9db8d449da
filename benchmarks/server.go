package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// server is the API server that the benchmark has started.
type server struct{ environment *envtest.Environment }

// configure allows an immediate restart of the API server: it keeps no lease for its address.
func (s server) configure() {
	s.environment.ControlPlane.GetAPIServer().Configure().Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none")
}

// Kill kills the process, which is identified by the folder of its certificates.
func (s server) Kill(ctx context.Context) error {
	found, err := exec.CommandContext(ctx, "pgrep", "-f", "kube-apiserver.*"+s.environment.ControlPlane.GetAPIServer().CertDir).Output()
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(found)))
	if err != nil {
		return fmt.Errorf("find the API server: one process is expected: %w", err)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// Start starts another process at the same address.
func (s server) Start() error { return s.environment.ControlPlane.GetAPIServer().Start() }
