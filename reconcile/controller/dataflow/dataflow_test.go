package dataflow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// TestRulesAddUp checks that the permissions of several controllers for a resource are combined in one rule, whatever their order.
func TestRulesAddUp(t *testing.T) {
	t.Parallel()
	a := dataflow.Description{Rules: []rbacv1.PolicyRule{rule("", "secrets", "list", "watch"), rule("apps", "deployments", "get")}}
	b := dataflow.Description{Rules: []rbacv1.PolicyRule{rule("", "secrets", "patch", "get"), rule("", "configmaps", "get", "list", "watch", "patch")}}
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"get", "list", "watch", "patch"}},
		rule("apps", "deployments", "get"),
		rule("events.k8s.io", "events", "create", "patch"),
	}
	for _, controllers := range [][]dataflow.Description{{a, b}, {b, a}} {
		if diff := cmp.Diff(want, dataflow.Page{Controllers: controllers}.Rules()); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
	}
}

// TestEndpoints checks that the page lists the HTTP endpoints of an operator, and has no such section without endpoints.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	const section = "\n## HTTP Endpoints\n\n| Method | Path | Source |\n| --- | --- | --- |\n| GET | /books/:id | library/server.go |\n\n## Ownership\n"
	page := dataflow.Page{Name: "library"}
	if text := page.Markdown(); strings.Contains(text, "HTTP Endpoints") {
		t.Errorf("there is a section without endpoints:\n%s", text)
	}
	page.Endpoints = []dataflow.Endpoint{{Method: "GET", Path: "/books/:id", Source: "library/server.go"}}
	if text := page.Markdown(); !strings.Contains(text, section) {
		t.Errorf("no section %q in:\n%s", section, text)
	}
}

// TestNamespaces checks that an operator that is restricted to namespaces has its permissions bound there, and those for cluster-scoped
// resources in the cluster.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	page := dataflow.Page{
		Name: "shop", Namespaces: []string{"a", "b"}, ClusterResources: []string{"shelves.example.com"},
		ExtraRules: []rbacv1.PolicyRule{
			rule("", "secrets", "list"), rule("", "nodes", "list"), rule("example.com", "shelves/status", "patch"), rule("example.com", "shops", "list"),
		},
	}
	files, err := page.Files("shop", types.NamespacedName{Namespace: "system", Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, text := range strings.Split(files["config/rbac/role.yaml"], "---\n")[1:] {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			t.Fatal(err)
		}
		for _, r := range role.Rules {
			got[role.Name] = append(got[role.Name], r.Resources...)
		}
	}
	want := map[string][]string{"shop": {"secrets", "events", "shops"}, "shop-cluster": {"nodes", "shelves/status"}}
	for _, resources := range got {
		slices.Sort(resources)
	}
	for _, resources := range want {
		slices.Sort(resources)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources of the roles (-want +got):\n%s", diff)
	}
	var bound []string
	for _, text := range strings.Split(files["config/rbac/role_binding.yaml"], "---\n")[1:] {
		var binding rbacv1.RoleBinding
		if err := yaml.Unmarshal([]byte(text), &binding); err != nil {
			t.Fatal(err)
		}
		bound = append(bound, binding.Kind+" "+binding.Namespace+" "+binding.RoleRef.Name)
	}
	if diff := cmp.Diff([]string{"RoleBinding a shop", "RoleBinding b shop", "ClusterRoleBinding  shop-cluster"}, bound); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}

// TestMarkdownEscapes checks that a vertical bar in a table cell is escaped.
func TestMarkdownEscapes(t *testing.T) {
	t.Parallel()
	page := dataflow.Description{
		Controller: "shop",
		Access:     []dataflow.Access{{GVK: "/v1/Secret", Cache: "typed", Filter: "a in (b|c)", Optional: true}},
	}.Markdown()
	if want := `| /v1/Secret | typed where a in (b\|c), optional |`; !strings.Contains(page, want) {
		t.Errorf("want a line with %q, got:\n%s", want, page)
	}
}
