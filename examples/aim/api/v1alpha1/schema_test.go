package v1alpha1_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/examples/internal/crdfacts"
)

const factsFile = "testdata/schema-facts.txt"

// TestSchemaEqualsTheProduct compares the generated CRDs, fact by fact, with
// those of the product. AIM_CRDS=<folder of the product's CRDs> reads the facts
// anew; the run then fails, so that nobody takes it for a check.
func TestSchemaEqualsTheProduct(t *testing.T) {
	t.Parallel()

	if folder := os.Getenv("AIM_CRDS"); folder != "" {
		if err := os.WriteFile(factsFile, []byte(facts(t, folder)), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatal("facts written: run again without AIM_CRDS")
	}
	want, err := os.ReadFile(factsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(facts(t, "../../config/crd"), "\n")); diff != "" {
		t.Errorf("the schema differs from the product's (-product +ours):\n%s", diff)
	}
}

func facts(t *testing.T, folder string) string {
	t.Helper()
	text, err := crdfacts.Of(filepath.Join(folder, "aim.eai.amd.com_*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
