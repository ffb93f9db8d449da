package main

import (
	"os"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	corev1 "k8s.io/api/core/v1"
)

// TestGenerated holds the page, the rights and the installation to what the controllers declare.
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
	reconciletest.Generated(t, files)
}
