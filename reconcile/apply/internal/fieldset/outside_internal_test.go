package fieldset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutside(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fields string
		value  map[string]any
		want   []string
	}{
		"nothing owned":           {`{}`, map[string]any{"a": "1"}, nil},
		"all planned":             {`{"f:data":{"f:a":{}}}`, map[string]any{"data": map[string]any{"a": "1"}}, nil},
		"a key":                   {`{"f:data":{"f:a":{},"f:b":{}}}`, map[string]any{"data": map[string]any{"a": "1"}}, []string{".data.b"}},
		"the highest node":        {`{"f:spec":{"f:x":{"f:y":{}}}}`, map[string]any{"data": nil}, []string{".spec"}},
		"below an atomic value":   {`{"f:spec":{"f:x":{}}}`, map[string]any{"spec": map[string]any{"x": map[string]any{"y": 1}}}, nil},
		"an item by keys":         {`{"f:l":{"k:{\"name\":\"b\"}":{".":{}},"k:{\"name\":\"a\"}":{".":{}}}}`, list("a"), []string{`.l[name="b"]`}},
		"a field of an item":      {`{"f:l":{"k:{\"name\":\"a\"}":{"f:name":{},"f:v":{}}}}`, list("a"), []string{`.l[name="a"].v`}},
		"an item of a set":        {`{"f:l":{"v:\"x\"":{},"v:\"y\"":{}}}`, map[string]any{"l": []any{"x"}}, []string{`.l["y"]`}},
		"an item by several keys": {`{"f:l":{"k:{\"b\":1,\"a\":\"x\"}":{}}}`, map[string]any{"l": []any{}}, []string{`.l[a="x",b=1]`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := Parse([]byte(test.fields))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, set.Outside(test.value)); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

func list(names ...string) map[string]any {
	var items []any
	for _, name := range names {
		items = append(items, map[string]any{"name": name})
	}
	return map[string]any{"l": items}
}
