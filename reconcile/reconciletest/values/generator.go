package values

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

const (
	deepest = 12 // nesting levels with optional fields
	longest = 2  // additional elements of a list or a map
)

// generator generates random values of a schema. It ignores oneOf, not and the like, and CEL rules; the caller validates the values.
type generator struct {
	*rand.Rand

	optional float64 // probability of an optional field
}

// seeded returns a generator that is deterministic for the seed and number.
func seeded(seed, number uint64) generator {
	return generator{Rand: rand.New(rand.NewPCG(seed, number)), optional: 0.5} //nolint:gosec // the values are not secret
}

// value returns a value of the schema.
func (g generator) value(s *apiextensionsv1.JSONSchemaProps, depth int) any {
	switch {
	case len(s.Enum) > 0:
		return decoded(s.Enum[g.IntN(len(s.Enum))])
	case s.Default != nil && g.IntN(4) == 0:
		return decoded(*s.Default)
	case s.XIntOrString:
		if g.IntN(2) == 0 && s.Pattern != "" {
			return g.text(s)
		}
		return g.integer(s)
	}
	switch s.Type {
	case "object", "":
		return g.object(s, depth)
	case "array":
		return g.list(s, depth)
	case "string":
		return g.text(s)
	case "boolean":
		return g.IntN(2) == 0
	case "integer":
		return g.integer(s)
	case "number":
		return float64(g.integer(s)) + float64(g.IntN(4))/4
	}
	return nil
}

func decoded(value apiextensionsv1.JSON) any {
	var out any
	if json.Unmarshal(value.Raw, &out) != nil {
		return nil
	}
	return out
}

// object returns the required fields and some others, and the entries of a map.
func (g generator) object(s *apiextensionsv1.JSONSchemaProps, depth int) any {
	out := map[string]any{}
	if s.XEmbeddedResource {
		out["apiVersion"], out["kind"], out["metadata"] = "v1", "ConfigMap", map[string]any{"name": "embedded"}
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		property := s.Properties[name]
		chosen := depth < deepest && g.Float64() < g.optional
		if slices.Contains(s.Required, name) || chosen && out[name] == nil {
			out[name] = g.value(&property, depth+1)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		for i := range g.size(s.MinProperties, s.MaxProperties, depth) {
			out[fmt.Sprintf("key-%d", i+1)] = g.value(s.AdditionalProperties.Schema, depth+1)
		}
	}
	return out
}

// size returns the number of elements of a list or a map.
func (g generator) size(least, most *int64, depth int) int64 {
	n := ptr.Deref(least, 0)
	if depth < deepest && g.Float64() < g.optional {
		n += g.Int64N(longest + 1)
	}
	return min(n, ptr.Deref(most, math.MaxInt64))
}

// list returns elements without duplicates for a set or a map.
func (g generator) list(s *apiextensionsv1.JSONSchemaProps, depth int) any {
	out := []any{}
	if s.Items == nil || s.Items.Schema == nil {
		return out
	}
	seen := map[string]bool{}
	for range g.size(s.MinItems, s.MaxItems, depth) {
		element := g.value(s.Items.Schema, depth+1)
		key := g.identity(s, element)
		if key == "" || !seen[key] {
			out = append(out, element)
		}
		seen[key] = true
	}
	return out
}

// identity returns the key that must be unique among the elements, "" if there is none.
func (g generator) identity(s *apiextensionsv1.JSONSchemaProps, element any) string {
	switch fields, isMap := element.(map[string]any); {
	case ptr.Deref(s.XListType, "") == "set" || s.UniqueItems:
		return fmt.Sprintf("%v", element)
	case ptr.Deref(s.XListType, "") == "map" && isMap:
		keys := make([]any, len(s.XListMapKeys))
		for i, name := range s.XListMapKeys {
			keys[i] = fields[name]
		}
		return fmt.Sprint(keys)
	}
	return ""
}

// integer returns a limit, a neighbour of a limit, or a small number.
func (g generator) integer(s *apiextensionsv1.JSONSchemaProps) int64 {
	least, most := int64(math.MinInt32), int64(math.MaxInt32)
	if s.Format == "int64" {
		least, most = -1<<53, 1<<53 // JSON's safe integers
	}
	if s.Minimum != nil {
		if least = int64(math.Ceil(*s.Minimum)); s.ExclusiveMinimum {
			least++
		}
	}
	if s.Maximum != nil {
		if most = int64(math.Floor(*s.Maximum)); s.ExclusiveMaximum {
			most--
		}
	}
	candidates := []int64{0, 1, 2, 3, -1, least, least + 1, most, most - 1, g.Int64N(1000)}
	if step := int64(ptr.Deref(s.MultipleOf, 1)); step > 1 {
		for i := range candidates {
			candidates[i] = candidates[i] / step * step
		}
	}
	candidates = slices.DeleteFunc(candidates, func(n int64) bool { return n < least || n > most })
	if len(candidates) == 0 {
		return least
	}
	return candidates[g.IntN(len(candidates))]
}
