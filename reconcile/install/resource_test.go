package install_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
)

// TestResourceOfTheCRD: the plural of a CRD wins over the one that the permissions guess.
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
