package crdschema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/crdschema"
)

const valve = `
type: object
required: [spec]
x-kubernetes-validations:
- {rule: "!has(self.status) || self.status.open <= self.spec.most", message: open is above most}
properties:
  spec:
    type: object
    required: [size]
    properties:
      size:
        type: string
        enum: [small, large]
        x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]
      most: {type: integer, default: 10, minimum: 0}
      serial:
        type: string
        x-kubernetes-validations:
        - {rule: "oldSelf.hasValue() || self.startsWith('new')", optionalOldSelf: true, message: is not new}
      label: {type: string, pattern: "^[a-z]*$"}
      tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
      extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status:
    type: object
    properties:
      open: {type: integer}
      phase: {type: string, enum: [Open, Shut]}
`

func read[T any](t *testing.T, text string) T {
	t.Helper()
	var out T
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return out
}

// object parses an object in its stored form, with integers.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	return whole(read[map[string]any](t, text)).(map[string]any)
}

func whole(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = whole(v[key])
		}
	case []any:
		for n := range v {
			v[n] = whole(v[n])
		}
	case float64:
		return int64(v)
	}
	return value
}

func schemaOf(t *testing.T, text string) *crdschema.Schema {
	t.Helper()
	props := read[apiextensionsv1.JSONSchemaProps](t, text)
	schema, err := crdschema.New(&props)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func printed(errs field.ErrorList) string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

func wants(t *testing.T, errs field.ErrorList, want string) {
	t.Helper()
	if got := printed(errs); got == "" && want != "" || !strings.Contains(got, want) || want == "" && got != "" {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, valve)
	for text, want := range map[string]string{
		`{spec: {size: small, most: 3}}`:                     "",
		`{}`:                                                 "spec: Required value",
		`{spec: {}}`:                                         "spec.size: Required value",
		`{spec: {size: medium}}`:                             `spec.size: Unsupported value: "medium"`,
		`{spec: {size: small, most: -1}}`:                    "spec.most: Invalid value: -1",
		`{spec: {size: small, most: much}}`:                  "spec.most: Invalid value",
		`{spec: {size: small, label: A}}`:                    "spec.label: Invalid value",
		`{spec: {size: small, tags: [a, a]}}`:                `spec.tags[1]: Duplicate value: "a"`,
		`{spec: {size: small, serial: old}}`:                 "is not new",
		`{spec: {size: small, most: 3}, status: {open: 4}}`:  "open is above most",
		`{spec: {size: medium, most: 3}, status: {open: 4}}`: "some validation rules were not checked",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			wants(t, schema.Validate(t.Context(), object(t, text)), want)
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, valve)
	for name, c := range map[string]struct{ old, changed, want string }{
		"of another field":                        {`{spec: {size: small, most: 3}}`, `{spec: {size: small, most: 4}}`, ""},
		"of an immutable field":                   {`{spec: {size: small}}`, `{spec: {size: large}}`, "is immutable"},
		"against a rule for creation":             {`{spec: {size: small, serial: new}}`, `{spec: {size: small, serial: old}}`, ""},
		"that adds an optional field with a rule": {`{spec: {size: small}}`, `{spec: {size: small, serial: old}}`, "is not new"},
		"next to an invalid field":                {`{spec: {size: medium, most: 3}}`, `{spec: {size: medium, most: 4}}`, ""},
		"of an invalid field":                     {`{spec: {size: small, label: A}}`, `{spec: {size: small, label: B}}`, "spec.label: Invalid value"},
		"next to duplicates":                      {`{spec: {size: small, tags: [a, a]}}`, `{spec: {size: small, most: 4, tags: [a, a]}}`, ""},
		"that adds duplicates":                    {`{spec: {size: small, tags: [a]}}`, `{spec: {size: small, tags: [a, a]}}`, "Duplicate value"},
		"against a rule about a sibling":          {`{spec: {size: small, most: 4}, status: {open: 4}}`, `{spec: {size: small, most: 3}, status: {open: 4}}`, "open is above most"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wants(t, schema.ValidateUpdate(t.Context(), object(t, c.old), object(t, c.changed)), c.want)
		})
	}
}

// TestValidateStatus checks that a status update is validated with the schema of the status, and with all rules.
func TestValidateStatus(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, valve)
	for name, c := range map[string]struct{ old, changed, want string }{
		"first status":             {`{spec: {size: small, most: 3}}`, `{spec: {size: small, most: 3}, status: {open: 3, phase: Open}}`, ""},
		"outside the enum":         {`{spec: {size: small, most: 3}}`, `{spec: {size: small, most: 3}, status: {open: 3, phase: Ajar}}`, `status.phase: Unsupported value: "Ajar"`},
		"against a rule":           {`{spec: {size: small, most: 3}}`, `{spec: {size: small, most: 3}, status: {open: 4}}`, "open is above most"},
		"next to an invalid field": {`{spec: {size: small, most: 3}, status: {open: 1, phase: Ajar}}`, `{spec: {size: small, most: 3}, status: {open: 2, phase: Ajar}}`, ""},
		"removed field":            {`{spec: {size: small}, status: {open: 1}}`, `{spec: {size: small}}`, ""},
		"with an invalid spec":     {`{spec: {size: medium, most: 3}}`, `{spec: {size: medium, most: 3}, status: {open: 1}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wants(t, schema.ValidateStatus(t.Context(), object(t, c.old), object(t, c.changed)), c.want)
		})
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, valve)
	got := object(t, `{apiVersion: v1, kind: V, metadata: {name: a, more: 1}, more: 1, spec: {more: 1, label: null, extra: {more: 1}}, status: {more: 1}}`)
	schema.Complete(got)
	want := object(t, `{apiVersion: v1, kind: V, metadata: {name: a, more: 1}, spec: {most: 10, extra: {more: 1}}, status: {}}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got["spec"].(map[string]any)["most"] = int64(1)
	other := object(t, `{spec: {}}`)
	schema.Complete(other)
	if most := other["spec"].(map[string]any)["most"]; most != int64(10) {
		t.Errorf("the default has become %v", most)
	}
}

func TestEnum(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, `{type: object, properties: {
		size: {type: string, enum: [small, large]}, label: {type: string},
		list: {type: array, items: {type: object, properties: {mode: {type: integer, enum: [1, 2]}}}},
		map: {type: object, additionalProperties: {type: string, enum: [a, b]}}, free: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`)
	for path, want := range map[string][]any{
		"size": {"small", "large"}, "label": nil, "unknown": nil, "label.deeper": nil, "free.any": nil,
		"list.0.mode": {int64(1), int64(2)}, "map.any": {"a", "b"},
	} {
		if diff := cmp.Diff(want, schema.Enum(strings.Split(path, "."))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestDefinitionInGo checks that a CRD that is written in Go behaves like one that was parsed.
func TestDefinitionInGo(t *testing.T) {
	t.Parallel()
	schema, err := crdschema.New(&apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"data": {
			Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, schema.Validate(t.Context(), map[string]any{"data": map[string]any{"a": "x"}}), "")
	wants(t, schema.Validate(t.Context(), map[string]any{"data": map[string]any{"a": int64(1)}}), "data.a: Invalid value")
}

// TestNotStructural checks that a CRD that an API server rejects is an error.
func TestNotStructural(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{type: object, properties: {spec: {properties: {a: {type: string}}}}}`: "properties[spec].type: Required value",
		`{type: object, additionalProperties: {type: string}}`:                  "additionalProperties: Forbidden",
		`{type: object, properties: {a: {type: string, $ref: x}}}`:              "$ref",
	} {
		props := read[apiextensionsv1.JSONSchemaProps](t, text)
		if _, err := crdschema.New(&props); err == nil || !strings.Contains(err.Error(), "not structural") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error with %q, got %v", text, want, err)
		}
	}
}

func TestRuleThatDoesNotCompile(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, `{type: object, properties: {size: {type: string, x-kubernetes-validations: [{rule: "self > 1"}]}}}`)
	wants(t, schema.Validate(t.Context(), map[string]any{"size": "x"}), "rule compile error")
}
