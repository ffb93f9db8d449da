package v1alpha1_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestConversionKeepsEveryField checks that each optional field of a schema survives a conversion to the other version and back: alone and
// with all others, with a value and with an explicit false, 0, [] or {}.
func TestConversionKeepsEveryField(t *testing.T) {
	t.Parallel()
	for file, kind := range map[string]struct {
		hub     func() conversion.Hub
		older   func() conversion.Convertible
		samples int // fewer than these were made by a walk that has missed the fields
	}{
		"evalhubs": {func() conversion.Hub { return &v1.EvalHub{} }, func() conversion.Convertible { return &v1alpha1.EvalHub{} }, 40},
		"trustyaiservices": {
			func() conversion.Hub { return &v1.TrustyAIService{} },
			func() conversion.Convertible { return &v1alpha1.TrustyAIService{} }, 20,
		},
	} {
		for version, schema := range schemas(t, file) {
			t.Run(file+"/"+version, func(t *testing.T) {
				t.Parallel()
				samples := variants(schema.Properties["spec"])
				if len(samples) < kind.samples {
					t.Errorf("%d samples were created, want at least %d", len(samples), kind.samples)
				}
				for _, spec := range samples {
					var before, after, between any = kind.hub(), kind.hub(), kind.older()
					if version == "v1alpha1" {
						before, after, between = kind.older(), kind.older(), kind.hub()
					}
					given := map[string]any{"metadata": map[string]any{"name": "n"}, "spec": spec}
					copyJSON(t, given, before)
					convert(t, before, between)
					convert(t, between, after)
					var got map[string]any
					copyJSON(t, after, &got)
					if diff := cmp.Diff(spec, got["spec"]); diff != "" {
						t.Errorf("the conversion through %T changed the object (-before +after):\n%s", between, diff)
					}
				}
			})
		}
	}
}

// schemas are those of a CRD by their versions.
func schemas(t *testing.T, file string) map[string]apiextensionsv1.JSONSchemaProps {
	t.Helper()
	text, err := os.ReadFile("../../config/crd/trustyai.opendatahub.io_" + file + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	out := map[string]apiextensionsv1.JSONSchemaProps{}
	for _, version := range crd.Spec.Versions {
		out[version.Name] = *version.Schema.OpenAPIV3Schema
	}
	if len(out) != 2 {
		t.Fatalf("%s has %d versions", file, len(out))
	}
	return out
}

// variants are values of a schema: with each field alone, besides those that are required, with all fields, and with all of them empty.
func variants(schema apiextensionsv1.JSONSchemaProps) []any {
	if schema.Type != "object" || schema.Properties == nil || ofKubernetes(schema) {
		return []any{filled(schema), empty(schema)}
	}
	out := []any{filled(schema), empty(schema), required(schema)}
	for name, property := range schema.Properties {
		for _, value := range variants(property) {
			if value == nil {
				continue
			}
			object := required(schema)
			object[name] = value
			out = append(out, object)
		}
	}
	return out
}

// required is what no object lacks: what must be there, and what the API server adds.
func required(schema apiextensionsv1.JSONSchemaProps) map[string]any {
	out := map[string]any{}
	for name, property := range schema.Properties {
		if property.Default != nil {
			var value any
			if json.Unmarshal(property.Default.Raw, &value) == nil {
				out[name] = value
			}
		}
	}
	for _, name := range schema.Required {
		property := schema.Properties[name]
		if out[name] = required(property); property.Type != "object" {
			out[name] = filled(property)
		}
	}
	return out
}

// filled is a value with everything in it.
func filled(schema apiextensionsv1.JSONSchemaProps) any {
	switch schema.Type {
	case "boolean":
		return true
	case "integer", "number":
		return 7.0
	case "array":
		return []any{filled(*schema.Items.Schema)}
	case "object":
		out := map[string]any{}
		if schema.AdditionalProperties != nil {
			out["k"] = filled(*schema.AdditionalProperties.Schema)
		}
		for name, property := range schema.Properties {
			out[name] = filled(property)
		}
		return out
	}
	return "1"
}

// empty is a value with everything in it that is empty and not the same as nothing, which texts are; nil for none.
func empty(schema apiextensionsv1.JSONSchemaProps) any {
	switch schema.Type {
	case "boolean":
		return false
	case "integer", "number":
		return 0.0
	case "array":
		return []any{}
	case "object":
		if ofKubernetes(schema) {
			return map[string]any{}
		}
		out := required(schema)
		for name, property := range schema.Properties {
			if value := empty(property); value != nil && !slices.Contains(schema.Required, name) {
				out[name] = value
			}
		}
		return out
	}
	return nil
}

// ofKubernetes reports whether the schema is that of resources, whose type in Kubernetes leaves out what is empty in it.
func ofKubernetes(schema apiextensionsv1.JSONSchemaProps) bool {
	_, resources := schema.Properties["limits"]
	return resources
}

func convert(t *testing.T, from, to any) {
	t.Helper()
	var sent any
	copyJSON(t, from, &sent) // as the API server sends it
	var err error
	switch to := to.(type) {
	case conversion.Hub:
		older := from.(conversion.Convertible)
		copyJSON(t, sent, older)
		err = older.ConvertTo(to)
	case conversion.Convertible:
		err = to.ConvertFrom(from.(conversion.Hub))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyJSON(t *testing.T, from, to any) {
	t.Helper()
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}
