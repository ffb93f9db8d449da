package main

import (
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/types"
)

// runsAs is what the Deployment runs as.
var runsAs = types.NamespacedName{Namespace: "model-serving", Name: "modelmesh-controller"}

// environment returns a variable of a table.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// TestGenerated holds the page and the rights, of both scopes, to what the controllers declare.
func TestGenerated(t *testing.T) {
	t.Parallel()
	all := map[string]string{}
	for folder, variables := range map[string]map[string]string{"": nil, "namespaced/": {"NAMESPACE_SCOPE": "true"}} {
		page, err := modelmesh(environment(variables)).Page()
		if err != nil {
			t.Fatal(err)
		}
		files, err := page.Files("modelmesh-controller-role", runsAs)
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range files {
			if folder == "" || strings.HasPrefix(name, "config/rbac/") {
				all[strings.Replace(name, "config/rbac/", "config/rbac/"+folder, 1)] = content
			}
		}
	}
	reconciletest.Generated(t, all)
}
