package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/examples/maas/operator"
)

// TestGenerated compares what is generated from the controllers' declarations with
// what is checked in. UPDATE=1 writes it anew; the run then fails.
func TestGenerated(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := backend.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	maas, err := operator.New(backend.Config{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := describe(scheme, maas)
	if err != nil {
		t.Fatal(err)
	}
	cluster := page
	cluster.LeaderElection = false // has a Role of its own, in one namespace
	role, err := cluster.RoleYAML("maas-manager")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"config/rbac/role.yaml": string(role), "dataflow.md": page.Markdown()} {
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s written: run again without UPDATE", file)
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what the controllers declare; UPDATE=1 writes it (-declared +checked in):\n%s", file, diff)
		}
	}
}
