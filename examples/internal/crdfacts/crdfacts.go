// Package crdfacts describes the visible properties of CRDs as text, so that tests can compare them with the CRDs of a product.
package crdfacts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Of describes the CRDs in the files that match the pattern: one line for each kind, column and field, in the order of the file
// names.
func Of(pattern string) (string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return "", fmt.Errorf("pattern %s: %w", pattern, err)
	}
	if len(files) == 0 {
		return "", fmt.Errorf("pattern %s matches no file", pattern)
	}
	var out strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // a file of the example
		if err != nil {
			return "", err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		names := crd.Spec.Names
		for _, version := range crd.Spec.Versions {
			fmt.Fprintf(&out, "%s: %s %s short=%v categories=%v %s %s served=%v storage=%v status=%v\n", names.Kind, names.Plural, names.Singular,
				names.ShortNames, names.Categories, crd.Spec.Scope, version.Name, version.Served, version.Storage,
				version.Subresources != nil && version.Subresources.Status != nil)
			for _, column := range version.AdditionalPrinterColumns {
				fmt.Fprintf(&out, "  column %s %s %s %d\n", column.Name, column.Type, column.JSONPath, column.Priority)
			}
			field(&out, "", false, *version.Schema.OpenAPIV3Schema)
		}
	}
	return out.String(), nil
}

// Fields calls visit for each field of the kinds in a text of facts, with the
// kind and the path, such as .spec.items[].name, and the values of its enum.
func Fields(facts string, visit func(kind, path string, enum []string)) error {
	kind := ""
	for line := range strings.Lines(facts) {
		if !strings.HasPrefix(line, " ") {
			kind, _, _ = strings.Cut(line, ":")
			continue
		}
		path, rules, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(path, ".") {
			continue
		}
		var values []string
		if _, list, found := strings.Cut(rules, `"enum":`); found {
			if err := json.NewDecoder(strings.NewReader(list)).Decode(&values); err != nil {
				return fmt.Errorf("%s%s: %w", kind, path, err)
			}
		}
		visit(kind, path, values)
	}
	return nil
}

// field describes a field and its children.
func field(out *strings.Builder, path string, required bool, s apiextensionsv1.JSONSchemaProps) {
	below := s.DeepCopy()
	below.Description, below.Properties, below.Items, below.AdditionalProperties, below.Required = "", nil, nil, nil, nil
	if len(s.AllOf) == 2 && len(s.AllOf[0].Enum) > 0 && reflect.DeepEqual(s.AllOf[0], s.AllOf[1]) { // the same enum twice
		below.AllOf, below.Enum = nil, s.AllOf[0].Enum
	}
	if below.XIntOrString {
		below.Pattern, below.AnyOf, below.Type = "", nil, "quantity"
	}
	rules, _ := json.Marshal(below) //nolint:errchkjson // a decoded schema is valid JSON
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
