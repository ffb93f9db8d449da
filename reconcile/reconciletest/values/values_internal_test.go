package values

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const machine = `
type: object
required: [spec]
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    required: [size, name, parts]
    x-kubernetes-validations:
    - {rule: "self.least <= self.most", message: least is above most}
    properties:
      size: {type: string, enum: [small, large]}
      name: {type: string, pattern: "^[a-z]([-a-z0-9]{0,8}[a-z0-9])?$"}
      least: {type: integer, format: int32, minimum: 0, default: 1}
      most: {type: integer, format: int32, minimum: 0, maximum: 10, exclusiveMaximum: true, default: 5}
      share: {type: number, minimum: 0}
      even: {type: integer, multipleOf: 2}
      note: {type: string, minLength: 2, maxLength: 20}
      at: {type: string, format: date-time}
      limit: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], pattern: "^[0-9]{1,3}(m|Mi|Gi)?$"}
      runs: {type: boolean}
      labels: {type: object, additionalProperties: {type: string}, maxProperties: 2}
      parts:
        type: array
        minItems: 1
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items: {type: object, required: [name], properties: {name: {type: string, enum: [a, b]}, next: {type: object, properties: {deep: {type: string}}}}}
      tags: {type: array, maxItems: 3, items: {type: string, maxLength: 1}, x-kubernetes-list-type: set}
      extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status:
    type: object
    properties: {phase: {type: string}}
`

func props(t *testing.T, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	out := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDraw checks that generated values are valid before the validation, and that the first two are the smallest and the largest.
func TestDraw(t *testing.T) {
	t.Parallel()
	const n = 200
	drawn, err := draw(t.Context(), props(t, machine), 7, n)
	if len(drawn) != n {
		t.Fatalf("%d of %d are valid: %v", len(drawn), n, err)
	}
	again, _ := draw(t.Context(), props(t, machine), 7, n)
	if diff := cmp.Diff(drawn, again); diff != "" {
		t.Errorf("the same seed gives other values:\n%s", diff)
	}
	other, _ := draw(t.Context(), props(t, machine), 8, n)
	if cmp.Equal(drawn, other) {
		t.Error("another seed gives the same values")
	}
	spec := func(i int) map[string]any { return drawn[i]["spec"].(map[string]any) } //nolint:forcetypeassert,revive // it is required
	names := func(of map[string]any) (out []string) {
		for _, name := range []string{"size", "name", "least", "most", "share", "even", "note", "at", "limit", "runs", "labels", "parts", "tags", "extra"} {
			if _, set := of[name]; set {
				out = append(out, name)
			}
		}
		return out
	}
	if diff := cmp.Diff([]string{"size", "name", "least", "most", "parts"}, names(spec(0))); diff != "" {
		t.Errorf("the first value has more than required fields and defaults:\n%s", diff)
	}
	seen := map[any]bool{}
	for i := range drawn {
		if _, set := drawn[i]["status"]; set || drawn[i]["metadata"] != nil {
			t.Fatalf("fields outside spec: %v", drawn[i])
		}
		seen[spec(i)["size"]], seen[spec(i)["most"]], seen[spec(i)["runs"]] = true, true, true
	}
	for _, want := range []any{"small", "large", int64(0), int64(9), true, false} {
		if !seen[want] {
			t.Errorf("%v never occurs", want)
		}
	}
}

// TestErrorWithoutValues checks the error for a rule that no value satisfies.
func TestErrorWithoutValues(t *testing.T) {
	t.Parallel()
	drawn, err := draw(t.Context(), props(t, `
type: object
properties:
  spec:
    type: object
    x-kubernetes-validations: [{rule: "false", message: never}]
required: [spec]
`), 1, 3)
	if len(drawn) != 0 || err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("got %v, error %v; want no value and an error", drawn, err)
	}
}

// TestText checks that a generated string matches the pattern or the length limits of the schema.
func TestText(t *testing.T) {
	t.Parallel()
	two, four := int64(2), int64(4)
	for _, pattern := range []string{
		`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`, `^\d{3,5}$`, `^(a|b|cd)+x?$`, `^$`, `^.{2}$`, `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$`,
	} {
		want := regexp.MustCompile(pattern)
		for seed := range uint64(50) {
			g := seeded(seed, 0)
			if got := g.text(&apiextensionsv1.JSONSchemaProps{Type: "string", Pattern: pattern}); !want.MatchString(got) {
				t.Errorf("%q does not match %s", got, pattern)
			}
			if got := len([]rune(g.text(&apiextensionsv1.JSONSchemaProps{Type: "string", MinLength: &two, MaxLength: &four}))); got < 2 || got > 4 {
				t.Errorf("%d letters, want 2 to 4", got)
			}
		}
	}
}
