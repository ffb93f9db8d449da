package main

import (
	"flag"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var update = flag.Bool("update", false, "write the generated files anew; the test still fails when they were old")

func describedPage(t *testing.T) controller.Page {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	controllers, err := newOperator(scheme)
	if err != nil {
		t.Fatal(err)
	}
	page, err := newPage(scheme, controllers.declared()...)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestRoleIsDerived keeps config/rbac/role.yaml at what the declarations need.
func TestRoleIsDerived(t *testing.T) {
	t.Parallel()
	want, err := describedPage(t).RoleYAML("model-registry-operator-manager-role")
	if err != nil {
		t.Fatal(err)
	}
	const file = "config/rbac/role.yaml"
	got, err := os.ReadFile(file)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" || err != nil {
		t.Errorf("%s is not what -update writes (%v) (-want +got):\n%s", file, err, diff)
	}
}

// TestPageCoversTheProduct checks that every kind that the product watches is watched, and that its webhooks are told of.
func TestPageCoversTheProduct(t *testing.T) {
	t.Parallel()
	page := describedPage(t).Markdown()
	for _, row := range []string{
		"For | modelregistry.opendatahub.io/v1beta1/ModelRegistry",
		"| /v1/Service |", "| /v1/ServiceAccount |", "| apps/v1/Deployment |", "| networking.k8s.io/v1/NetworkPolicy |",
		"| rbac.authorization.k8s.io/v1/Role |", "| rbac.authorization.k8s.io/v1/RoleBinding |", "| /v1/ConfigMap |",
		"| /v1/PersistentVolumeClaim |", "| /v1/Secret |", "| rbac.authorization.k8s.io/v1/ClusterRoleBinding |",
		"| mmodelregistry.opendatahub.io | mutating | /mutate-modelregistry-opendatahub-io-modelregistry | Fail |",
		"| vmodelregistry.opendatahub.io | validating | /validate-modelregistry-opendatahub-io-modelregistry | Fail |",
	} {
		if !strings.Contains(page, row) {
			t.Errorf("the page has no %q", row)
		}
	}
}

// TestWritesGoThroughTheSDK checks that no file of the operator wires watches or writes objects by itself. The stand-in of the
// demo is no part of it.
func TestWritesGoThroughTheSDK(t *testing.T) {
	t.Parallel()
	banned := regexp.MustCompile(`^"sigs.k8s.io/controller-runtime/pkg/(builder|handler|controller/controllerutil)"$`)
	written := regexp.MustCompile(`\.(Create|Update|Patch|Delete|DeleteAllOf|Apply)\(ctx`)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "standin") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			if banned.MatchString(imported.Path.Value) {
				t.Errorf("%s imports %s", path, imported.Path.Value)
			}
		}
		if found := written.Find(text); found != nil {
			t.Errorf("%s writes by itself: %s", path, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
