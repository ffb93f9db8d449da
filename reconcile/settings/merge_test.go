package settings_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/settings"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		exact        bool
		upper, lower string
		want, err    string
	}{
		"nothing":                 {want: `{}`},
		"by leaf":                 {upper: "a: {x: 1}", lower: "a: {x: 0, z: 2}\nb: 3", want: `{"a":{"x":1,"z":2},"b":3}`},
		"lists are replaced":      {upper: "a: [1]", lower: "a: [2, 3]", want: `{"a":[1]}`},
		"an empty list":           {upper: "a: []", lower: "a: [2]", want: `{"a":[]}`},
		"false and zero":          {upper: "a: false\nb: 0\nc: \"\"", lower: "a: true\nb: 1\nc: x", want: `{"a":false,"b":0,"c":""}`},
		"null is ignored":         {upper: "a: null\nb:", lower: "a: 1", want: `{"a":1}`},
		"a mapping for a value":   {upper: "a: {x: 1}", lower: "a: 2", want: `{"a":{"x":1}}`},
		"a value for a mapping":   {upper: "a: 2", lower: "a: {x: 1}", want: `{"a":2}`},
		"case":                    {upper: "PODS: 1\nOther: 2", lower: "pods: 0", want: `{"pods":1,"Other":2}`},
		"keys are case sensitive": {exact: true, upper: "PODS: 1", lower: "pods: 0", want: `{"PODS":1,"pods":0}`},
		"twice in another case":   {upper: "x: {Pods: 1, pods: 2}", err: "user: x.pods: duplicates x.Pods; remove one"},
		"twice":                   {upper: "a: 1\na: 2", err: `key "a" already set in map`},
		"not a mapping":           {upper: "- a", err: "user: want a mapping of settings, got []interface {}"},
		"invalid YAML":            {upper: "a: [", err: "user: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := settings.Format{IgnoreCase: !test.exact}.Merge(
				settings.Layer{Name: "user", Data: []byte(test.upper)}, settings.Layer{Name: "built in", Data: []byte(test.lower)})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzMerge checks that merging does not panic and is deterministic, and that merging a layer with itself changes nothing.
func FuzzMerge(f *testing.F) {
	f.Add("a: {x: 1}", "A: {y: 2}")
	f.Add("a: [1]", "a: {")
	f.Fuzz(func(t *testing.T, upper, lower string) {
		format := settings.Format{IgnoreCase: true}
		layer := func(text string) settings.Layer { return settings.Layer{Name: "x", Data: []byte(text)} }
		first, err := format.Merge(layer(upper), layer(lower))
		second, again := format.Merge(layer(upper), layer(lower))
		if diff := cmp.Diff(first, second); diff != "" || (err == nil) != (again == nil) {
			t.Errorf("two merges differ: %s, %v, %v", diff, err, again)
		}
		once, err := format.Merge(layer(upper))
		twice, again := format.Merge(layer(upper), layer(upper))
		if diff := cmp.Diff(once, twice); diff != "" || (err == nil) != (again == nil) {
			t.Errorf("merged with itself: %s, %v, %v", diff, err, again)
		}
	})
}
