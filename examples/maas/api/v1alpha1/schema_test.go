package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/examples/internal/crdfacts"
)

const factsFile = "testdata/schema-facts.txt"

// TestSchemaEqualsTheProduct compares the generated CRDs, fact by fact, with
// those of the product, whose API server takes nothing else. MAAS_CRDS=<folder of
// the product's CRDs> reads the facts anew; the run then fails, so that nobody
// takes it for a check.
func TestSchemaEqualsTheProduct(t *testing.T) {
	t.Parallel()
	if folder := os.Getenv("MAAS_CRDS"); folder != "" {
		if err := os.WriteFile(factsFile, []byte(facts(t, folder)), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatal("facts written: run again without MAAS_CRDS")
	}
	if diff := cmp.Diff(strings.Split(product(t), "\n"), strings.Split(facts(t, "../../config/crd"), "\n")); diff != "" {
		t.Errorf("the schema differs from the product's (-product +ours):\n%s", diff)
	}
}

// TestEnumsEqualTheProduct looks at every constant that the statuses are
// filled with: each enum of the product for a field of that type has it.
func TestEnumsEqualTheProduct(t *testing.T) {
	t.Parallel()
	fields := map[string][]string{
		"Phase":      {"MaaSSubscription.status.phase", "MaaSAuthPolicy.status.phase", "Tenant.status.phase"},
		"ModelPhase": {"MaaSModelRef.status.phase", "ExternalModel.status.phase"},
		"Reason": {
			"MaaSSubscription.status.modelRefStatuses[].reason", "MaaSSubscription.status.tokenRateLimitStatuses[].reason",
			"MaaSAuthPolicy.status.authPolicies[].reason",
		},
	}
	enums := map[string][]string{}
	if err := crdfacts.Fields(product(t), func(kind, path string, enum []string) { enums[kind+path] = enum }); err != nil {
		t.Fatal(err)
	}
	ours := constants(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(ours))); diff != "" {
		t.Errorf("types with constants (-checked +declared):\n%s", diff)
	}
	for name, paths := range fields {
		for _, path := range paths {
			for _, value := range ours[name] {
				if !slices.Contains(enums[path], value) {
					t.Errorf("%s has the value %s %q; the product accepts %v", path, name, value, enums[path])
				}
			}
		}
	}
}

// constants are the values of the package's typed constants.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			kind, typed := spec.Type.(*ast.Ident)
			for _, value := range spec.Values {
				if literal, ok := value.(*ast.BasicLit); ok && typed {
					text, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					values[kind.Name] = append(values[kind.Name], text)
				}
			}
			return true
		})
	}
	return values
}

func product(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(factsFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func facts(t *testing.T, folder string) string {
	t.Helper()
	text, err := crdfacts.Of(filepath.Join(folder, "maas.opendatahub.io_*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
