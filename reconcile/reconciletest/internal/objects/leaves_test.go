package objects_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

func TestLeaves(t *testing.T) {
	t.Parallel()
	content := map[string]any{
		"apiVersion": "v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "status": map[string]any{"ready": true},
		"spec": map[string]any{"size": "small", "none": nil, "empty": map[string]any{}, "ports": []any{map[string]any{"port": int64(80)}, "x"}},
	}
	paths, left := objects.Leaves(content)
	var got []string
	for _, path := range paths {
		got = append(got, strings.Join(path, "."))
	}
	if diff := cmp.Diff([]string{"spec.ports.0.port", "spec.ports.1", "spec.size"}, got); diff != "" || left != 0 {
		t.Errorf("%d left (-want +got):\n%s", left, diff)
	}
}

// TestManyLeaves checks that a sample of many values is spread over the entire object.
func TestManyLeaves(t *testing.T) {
	t.Parallel()
	data := map[string]any{}
	for n := range 20 {
		data[fmt.Sprintf("key-%02d", n)] = "x"
	}
	paths, left := objects.Leaves(map[string]any{"data": data})
	want := [][]string{{"data", "key-00"}, {"data", "key-03"}, {"data", "key-06"}, {"data", "key-10"}, {"data", "key-13"}, {"data", "key-16"}}
	if diff := cmp.Diff(want, paths); diff != "" || left != 14 {
		t.Errorf("%d left, want 14 (-want +got):\n%s", left, diff)
	}
}

func TestAtAndPut(t *testing.T) {
	t.Parallel()
	for path, there := range map[string]bool{
		"spec.size": true, "spec.ports.0.port": true, "spec.ports.1": true,
		"spec.ports.2": false, "spec.ports.x": false, "spec.size.deeper": false, "spec.more.deeper": false,
	} {
		content := map[string]any{"spec": map[string]any{"size": "small", "ports": []any{map[string]any{"port": int64(80)}, "x"}}}
		steps := strings.Split(path, ".")
		if _, found := objects.At(content, steps); found != there {
			t.Errorf("%s is there: %t, want %t", path, found, there)
		}
		put := objects.Put(content, steps, "new")
		value, _ := objects.At(content, steps)
		if put != there || put && value != "new" {
			t.Errorf("Put of %s: %t, want %t; value %v", path, put, there, value)
		}
	}
}

func TestPutNewKey(t *testing.T) {
	t.Parallel()
	content := map[string]any{"data": map[string]any{}}
	if !objects.Put(content, []string{"data", "a"}, "1") || content["data"].(map[string]any)["a"] != "1" {
		t.Errorf("Put does not set a new key: %v", content)
	}
}

func TestEdits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value   any
		encoded bool
		want    []any
	}{
		"a number":             {value: int64(3), want: []any{int64(4), int64(2)}},
		"a bool":               {value: true, want: []any{false}},
		"a number in a string": {value: "8080", want: []any{"8081"}},
		"a quantity":           {value: "512Mi", want: []any{"7"}},
		"a text":               {value: "red", want: []any{"red-edited", "redx", "x"}},
		"a time":               {value: "2026-01-01T00:00:00Z"},
		"no text":              {value: ""},
		"a value of a Secret":  {value: "cmVk", encoded: true, want: []any{"ZWRpdGVk"}},
		"a map":                {value: map[string]any{}},
		"a fraction":           {value: 0.5},
	} {
		if diff := cmp.Diff(c.want, objects.Edits(c.value, c.encoded)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
