package releases

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// parsed returns the value of a YAML text.
func parsed(t *testing.T, text string) any {
	t.Helper()
	var out any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func texts(paths []path) []string {
	out := []string{}
	for _, p := range paths {
		out = append(out, p.String())
	}
	return out
}

// TestLacks: an object keeps what a plan states if each stated value is there. The API server may add fields and items, and omit zeros.
func TestLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan, before, now string
		want              []string
	}{
		"equal":                     {`{a: 1, b: [{c: x}]}`, `{a: 1, b: [{c: x}]}`, `{a: 1, b: [{c: x}]}`, nil},
		"a field more":              {`{a: 1}`, `{a: 1, d: 1}`, `{a: 1, d: 2}`, nil},
		"an item more":              {`{b: [{c: x}]}`, `{b: [{c: x, d: 1}]}`, `{b: [{c: y}, {c: x, d: 2}]}`, nil},
		"another value":             {`{a: 1, b: {c: 1}}`, `{a: 1, b: {c: 1}}`, `{a: 2, b: {}}`, []string{"a", "b.c"}},
		"another item":              {`{b: [{c: x}]}`, `{b: [{c: x}]}`, `{b: [{c: y}]}`, []string{"b[0].c"}},
		"no item":                   {`{b: [1]}`, `{b: [1]}`, `{b: []}`, []string{"b[0]"}},
		"normalised by the server":  {`{q: 0.5}`, `{q: 500m}`, `{q: 500m}`, nil},
		"an omitted zero":           {`{a: false}`, `{}`, `{}`, nil},
		"a zero that is stored now": {`{a: false}`, `{}`, `{a: false}`, nil},
		"an omitted zero, changed":  {`{a: false}`, `{}`, `{a: true}`, []string{"a"}},
		"another type":              {`{a: {b: 1}, c: [1]}`, `{a: {b: 1}, c: [1]}`, `{a: 1, c: 1}`, []string{"a", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want == nil {
				want = []string{}
			}
			if diff := cmp.Diff(want, texts(lacks(stated(parsed(t, c.plan), parsed(t, c.before)), parsed(t, c.now), nil))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	value := parsed(t, `{a: {"x.y": 1, z: []}, b: [{c: 1}, 2], d: null}`)
	want := []string{`a["x.y"]`, "a.z", "b[0].c", "b[1]", "d"}
	if diff := cmp.Diff(want, texts(scalars(value, nil))); diff != "" {
		t.Errorf("scalars (-want +got)\n%s", diff)
	}
	other := parsed(t, `{a: {"x.y": 2, z: []}, b: [{c: 1}], e: 1}`)
	if diff := cmp.Diff([]string{`a["x.y"]`, "b", "e"}, texts(differences(value, other, nil))); diff != "" {
		t.Errorf("differences (-want +got)\n%s", diff)
	}
	schema := path{"spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec", "type"}
	if got, want := schema.pattern(), "spec.versions.schema.openAPIV3Schema.*.type"; got != want {
		t.Errorf("pattern: got %s, want %s", got, want)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at    path
		value any
		want  string
	}{
		"a field":          {path{"a", "b"}, "x", `{a: {b: x}, l: [1, 2]}`},
		"a new field":      {path{"a", "c"}, "x", `{a: {b: y, c: x}, l: [1, 2]}`},
		"an item":          {path{"l", 1}, "x", `{a: {b: y}, l: [1, x]}`},
		"a field, removed": {path{"a", "b"}, removed, `{a: {}, l: [1, 2]}`},
		"an item, removed": {path{"l", 0}, removed, `{a: {b: y}, l: [2]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := parsed(t, `{a: {b: y}, l: [1, 2]}`)
			set(got, c.at, c.value)
			if diff := cmp.Diff(parsed(t, c.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
