package install_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
)

// TestResourceOfTheCRD checks that the plural of a CRD takes precedence over the derived one.
func TestResourceOfTheCRD(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, plural, gvk, want string
	}{
		"Guessed":    {"the guessed plural matches the CRD", "indexes", "example.com/v1/Index", ""},
		"OtherKind":  {"the controller does not use the kind", "indices", "example.com/v1/Book", ""},
		"OtherGroup": {"the kind is of another group", "indices", "other.example.com/v1/Index", ""},
		"Irregular": {
			"the guessed plural differs", "indices", "example.com/v1/Index",
			`install: Config.CRDs: a.yaml: the resource of Index is "indices", which the permissions of the controller "shelf" do not name: ` +
				`add controller.Resource("indices") to the declaration of the kind`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := dataflow.Page{Name: "library", Controllers: []dataflow.Description{{
				Controller: "shelf", Access: []dataflow.Access{{GVK: tc.gvk}},
				Rules: []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{"indexes"}, Verbs: []string{"list"}}},
			}}}
			definition := "metadata:\n  annotations:\n    a: b\n  name: " + tc.plural + ".example.com\nspec:\n  group: example.com\n  names:\n    kind: Index\n    plural: " + tc.plural + "\n"
			_, err := install.Files(page, install.Config{CRDs: fstest.MapFS{"a.yaml": {Data: []byte(definition)}}})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClusterScopedCRD checks that an operator that is restricted to namespaces gets the permissions for its own cluster-scoped kind in the
// cluster, because a RoleBinding in a namespace does not permit them.
func TestClusterScopedCRD(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for _, scope := range []string{"Cluster", "Namespaced"} {
		page := dataflow.Page{Name: "library", Namespaces: []string{"one"}, Controllers: []dataflow.Description{{
			Controller: "shelf", Access: []dataflow.Access{{GVK: "example.com/v1/Book"}},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{"books", "pages"}, Verbs: []string{"list"}}},
		}}}
		definition := "metadata:\n  annotations:\n    a: b\n  name: books.example.com\nspec:\n  group: example.com\n  scope: " + scope + "\n  names:\n    kind: Book\n    plural: books\n"
		files, err := install.Files(page, install.Config{CRDs: fstest.MapFS{"a.yaml": {Data: []byte(definition)}}})
		if err != nil {
			t.Fatal(err)
		}
		for i, role := range objects(t, "roles", files["config/rbac/role.yaml"]) {
			binding := objects(t, "bindings", files["config/rbac/role_binding.yaml"])[i].GetKind()
			rules, _, err := unstructured.NestedSlice(role.Object, "rules")
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range rules {
				got[scope] = append(got[scope], fmt.Sprint(binding, rule.(map[string]any)["resources"]))
			}
		}
	}
	want := map[string][]string{"Cluster": {"RoleBinding[events]", "RoleBinding[pages]", "ClusterRoleBinding[books]"}, "Namespaced": {"RoleBinding[events]", "RoleBinding[books pages]"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bindings (-want +got)\n%s", diff)
	}
}
