package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// TestProcess starts the operator as a separate process on an API server that lacks the namespace of subscriptions and
// the CRDs of other projects.
func TestProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an API server and a separate process")
	}
	scheme := runtime.NewScheme()
	if err := models.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gateway, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	standard := filepath.Join(strings.TrimSpace(string(gateway)), "config/crd/standard")
	env := &environment.Environment{Scheme: scheme, CRDPaths: []string{
		"config/crd",
		filepath.Join(standard, "gateway.networking.k8s.io_httproutes.yaml"), filepath.Join(standard, "gateway.networking.k8s.io_gateways.yaml"),
	}}
	env.Setup(t)
	kubeconfig, err := environment.Kubeconfig(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file, binary := filepath.Join(folder, "kubeconfig"), filepath.Join(folder, "maas")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	output, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	log := func() string {
		text, err := os.ReadFile(output.Name())
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	process := exec.CommandContext(t.Context(), binary, "--kubeconfig", file, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	process.Stdout, process.Stderr = output, output
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = process.Process.Signal(os.Interrupt)
		if err := process.Wait(); err != nil {
			t.Errorf("the operator returned %v:\n%s", err, log())
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		home := &corev1.Namespace{}
		err := env.Client().Get(ctx, client.ObjectKey{Name: "models-as-a-service"}, home)
		if err == nil && home.Labels["opendatahub.io/generated-namespace"] == "true" {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("no namespace: %v\n%s", err, log())
		}
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(time.Second) // time for the controllers to start
	if strings.Contains(log(), "ERROR") {
		t.Errorf("errors in the log:\n%s", log())
	}
}
