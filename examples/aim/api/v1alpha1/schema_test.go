package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const factsFile = "testdata/schema-facts.txt"

// TestSchemaIsThatOfTheProduct compares the generated CRDs, fact by fact, with
// those of the product. AIM_CRDS=<folder of the product's CRDs> reads the facts
// anew; the run then fails, so that nobody takes it for a check.
func TestSchemaIsThatOfTheProduct(t *testing.T) {
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

// facts lists what a client can notice about the CRDs of a folder: a line per
// kind, column and field.
func facts(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "aim.eai.amd.com_*.yaml"))
	if err != nil || len(files) != 10 {
		t.Fatalf("want 10 CRDs in %s, got %d: %v", folder, len(files), err)
	}
	var out strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			t.Fatal(err)
		}
		names := crd.Spec.Names
		for _, version := range crd.Spec.Versions {
			fmt.Fprintf(&out, "%s: %s %s short=%v categories=%v %s %s served=%v storage=%v status=%v\n", names.Kind, names.Plural, names.Singular,
				names.ShortNames, names.Categories, crd.Spec.Scope, version.Name, version.Served, version.Storage, version.Subresources != nil && version.Subresources.Status != nil)
			for _, column := range version.AdditionalPrinterColumns {
				fmt.Fprintf(&out, "  column %s %s %s %d\n", column.Name, column.Type, column.JSONPath, column.Priority)
			}
			field(&out, "", false, *version.Schema.OpenAPIV3Schema)
		}
	}
	return out.String()
}

// field lists a field and those below it.
func field(out *strings.Builder, path string, required bool, s apiextensionsv1.JSONSchemaProps) {
	below := s.DeepCopy()
	below.Description, below.Properties, below.Items, below.AdditionalProperties, below.Required = "", nil, nil, nil, nil
	if len(s.AllOf) == 2 && len(s.AllOf[0].Enum) > 0 && cmp.Equal(s.AllOf[0], s.AllOf[1]) { // the same enum, given twice
		below.AllOf, below.Enum = nil, s.AllOf[0].Enum
	}
	if below.XIntOrString {
		below.Pattern, below.AnyOf, below.Type = "", nil, "quantity"
	}
	rules, _ := json.Marshal(below)
	text := strings.TrimPrefix(string(rules), `{"type":`)
	if required {
		text += " required"
	}
	if path != "" && path != ".apiVersion" && path != ".kind" {
		fmt.Fprintf(out, "  %s %s\n", path, strings.TrimSuffix(text, "}"))
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		field(out, path+"."+name, slices.Contains(s.Required, name), s.Properties[name])
	}
	if s.Items != nil && s.Items.Schema != nil {
		field(out, path+"[]", false, *s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		field(out, path+"{}", false, *s.AdditionalProperties.Schema)
	}
}
