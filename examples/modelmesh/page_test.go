package main

import (
	"os"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// runsAs is the service account of the Deployment.
var runsAs = types.NamespacedName{Namespace: "model-serving", Name: "modelmesh-controller"}

// lookup returns a function that reads variables from a map.
func lookup(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// TestGenerated compares the page, the installation and the permissions of both scopes with the declarations of the
// controllers.
func TestGenerated(t *testing.T) {
	t.Parallel()
	everywhere, err := modelmesh(lookup(nil)).Page()
	if err != nil {
		t.Fatal(err)
	}
	inOne, err := modelmesh(lookup(map[string]string{"NAMESPACE_SCOPE": "true"})).Page()
	if err != nil {
		t.Fatal(err)
	}
	all, err := install.Files(everywhere, install.Config{
		Namespace: runsAs.Namespace, Image: "modelmesh:latest", CRDs: os.DirFS("config/crd"),
		Env: []corev1.EnvVar{{
			Name:      "NAMESPACE",
			ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := inOne.Files(runsAs.Name, runsAs)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if rest, rights := strings.CutPrefix(name, "config/rbac/"); rights {
			all["config/rbac/namespaced/"+rest] = content
		}
	}
	lint.Generated(t, all)
}
