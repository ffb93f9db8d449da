package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
	corev1 "k8s.io/api/core/v1"
)

// TestGenerated compares the page, the permissions and the installation with the declarations of the controllers.
func TestGenerated(t *testing.T) {
	t.Parallel()
	page, err := trustyai().Page()
	if err != nil {
		t.Fatal(err)
	}
	files, err := install.Files(page, install.Config{
		Namespace: "opendatahub", Image: "trustyai:latest", CRDs: os.DirFS("config/crd"), Extra: os.DirFS("config/extra"),
		Env: []corev1.EnvVar{{
			Name: "APPLICATIONS_NAMESPACE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	lint.Generated(t, files)
}

// TestWatches checks that the table of watches has every kind that the product's controllers watch, with the line of its
// declaration.
func TestWatches(t *testing.T) {
	t.Parallel()
	page, err := trustyai().Page("--enable-services=" + everyService + ",JOB_MGR")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range page.Controllers {
		for _, watch := range d.Watches {
			if !strings.HasPrefix(watch.Source, "trustyai/") {
				t.Errorf("%s of %s is declared at %q", watch.GVK, d.Controller, watch.Source)
			}
		}
	}
	const ofHub = "the tenant of the hub reads the jobs and the workloads, so their events enqueue it"
	lint.Watched(t, page, "testdata/watches.txt", map[string]string{
		"For batch/v1/Job":                    ofHub,
		"For kueue.x-k8s.io/v1beta1/Workload": ofHub,
	})
}

// TestDescribe checks that the page can be printed without a cluster and does not depend on where the operator runs.
func TestDescribe(t *testing.T) {
	for _, name := range []string{"APPLICATIONS_NAMESPACE", "KUBECONFIG", "KUBERNETES_SERVICE_HOST"} {
		t.Setenv(name, "")
	}
	var printed, log bytes.Buffer
	if err := trustyai().Run(t.Context(), []string{"--describe"}, &printed, &log); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	page, err := os.ReadFile("docs/dataflow.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(page), printed.String()); diff != "" {
		t.Errorf("the printed page differs from docs/dataflow.md (-file +printed):\n%s", diff)
	}
}
