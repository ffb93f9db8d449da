package main

import "testing"

// TestMatch checks that an expected empty value must exist and be empty, and that a value expected to be absent must not
// exist.
func TestMatch(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	absent := object{"$absent": true}
	for name, c := range map[string]struct {
		want, got any
		matches   bool
	}{
		"an empty map":                 {object{}, object{}, true},
		"no map":                       {object{}, nil, false},
		"a map with content":           {object{}, object{"a": "b"}, false},
		"an empty list":                {[]any{}, []any{}, true},
		"no list":                      {[]any{}, nil, false},
		"a list with content":          {[]any{}, []any{"a"}, false},
		"an empty map in a field":      {object{"emptyDir": object{}}, object{"emptyDir": object{}}, true},
		"no map in a field":            {object{"emptyDir": object{}}, object{"name": "v"}, false},
		"a subset":                     {object{"a": "b"}, object{"a": "b", "c": "d"}, true},
		"another value":                {object{"a": "b"}, object{"a": "c"}, false},
		"absent in a missing object":   {object{"a": absent}, nil, true},
		"not absent":                   {object{"a": absent}, object{"a": object{}}, false},
		"an item by its name":          {[]any{object{"name": "a"}}, []any{object{"name": "b"}, object{"name": "a"}}, true},
		"no item of a name":            {[]any{object{"name": "a"}}, []any{object{"name": "b"}}, false},
		"an item with a missing field": {[]any{object{"name": "a", "readOnly": true}}, []any{object{"name": "a"}}, false},
	} {
		if err := match(c.want, c.got, "it"); (err == nil) != c.matches {
			t.Errorf("%s: error %v, want a match: %t", name, err, c.matches)
		}
	}
}
