package shape

import (
	"encoding/json"
	"math/rand/v2"
)

// Value returns a random value. Lists and maps are small.
func (s *Shape) Value(r *rand.Rand) any { return s.value(r, maxValueDepth) }

// maxValueDepth limits values of recursive shapes.
const maxValueDepth = 5

func (s *Shape) value(r *rand.Rand, depth int) any {
	switch {
	case len(s.Enum) > 0:
		return pick(r, s.Enum)
	case s.IntOrString:
		if chance(r, 2) {
			return pick(r, integers())
		}
		return pick(r, []string{"1", "80", "25%", "http", "1.0", "0", "01"})
	case s.Embedded:
		return embedded(r)
	}
	switch s.Type {
	case ObjectType:
		return s.object(r, depth)
	case ArrayType:
		return s.list(r, depth, r.IntN(4))
	case StringType:
		return text(r, s.Format)
	case IntegerType:
		return integer(r, s.Format)
	case NumberType:
		return pick(r, numbers())
	case BooleanType:
		return chance(r, 2)
	}
	return freeForm(r, 2)
}

func (s *Shape) object(r *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for _, name := range s.names() {
		if s.required(name) || (depth > 0 && r.IntN(5) < 3) {
			out[name] = s.Properties[name].value(r, depth-1)
			if value, ok := s.Properties[name].foreignDefault(name); ok && chance(r, 3) {
				out[name] = value
			}
		}
	}
	if s.Values != nil && depth > 0 {
		for range r.IntN(3) {
			out[pick(r, mapKeys())] = s.Values.value(r, depth-1)
		}
	}
	if s.Preserve && len(s.Properties)+len(out) == 0 || s.Preserve && chance(r, 3) {
		for range r.IntN(3) {
			out["x-"+pick(r, fieldNames())] = freeForm(r, 2)
		}
	}
	return out
}

// list returns a list of at most n items, unique if the type of the list requires it.
func (s *Shape) list(r *rand.Rand, depth, n int) []any {
	out := []any{}
	if depth <= 0 {
		return out
	}
	for range n {
		if item := s.Items.value(r, depth-1); !s.duplicate(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// duplicate reports whether the list contains an item with the same identity.
func (s *Shape) duplicate(list []any, item any) bool {
	if s.ListType != SetList && s.ListType != MapList {
		return false
	}
	id := s.identity(item)
	for _, other := range list {
		if s.identity(other) == id {
			return true
		}
	}
	return false
}

func (s *Shape) identity(item any) string {
	if m, ok := item.(map[string]any); ok && s.ListType == MapList {
		keys := make([]any, 0, len(s.Keys))
		for _, key := range s.Keys {
			value, ok := m[key]
			if !ok && s.Items.Properties[key] != nil {
				value = s.Items.Properties[key].Default
			}
			keys = append(keys, value)
		}
		item = keys
	}
	out, _ := json.Marshal(item) //nolint:errchkjson // made of JSON values
	return string(out)
}

// Zero returns the zero value of a Go field, or an allowed value if there is an enum.
func (s *Shape) Zero() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	if s.Embedded {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
	}
	switch s.Type {
	case ObjectType:
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = s.Properties[name].Zero()
		}
		return out
	case ArrayType:
		return []any{}
	case StringType:
		return ""
	case IntegerType, NumberType:
		return int64(0)
	case BooleanType:
		return false
	}
	if s.IntOrString {
		return int64(0)
	}
	return map[string]any{}
}

// embedded returns an object as x-kubernetes-embedded-resource requires it.
func embedded(r *rand.Rand) map[string]any {
	out := map[string]any{
		"apiVersion": "v1", "kind": pick(r, []string{"ConfigMap", "Secret", "Pod"}),
		"metadata": map[string]any{"name": pick(r, []string{"a", "b"})},
	}
	if chance(r, 2) {
		out["spec"] = freeForm(r, 2)
	}
	return out
}

// freeForm returns any JSON except null.
func freeForm(r *rand.Rand, depth int) any {
	kind := r.IntN(7)
	if depth <= 0 {
		kind = r.IntN(4)
	}
	switch kind {
	case 0:
		return pick(r, texts())
	case 1:
		return integer(r, "int64")
	case 2:
		return pick(r, numbers())
	case 3:
		return chance(r, 2)
	case 4:
		out := []any{}
		for range r.IntN(3) {
			out = append(out, freeForm(r, depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range r.IntN(3) {
		out[pick(r, fieldNames())] = freeForm(r, depth-1)
	}
	return out
}
