package releases

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// path leads to a value: names of fields and indices of lists.
type path []any

func (p path) String() string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if strings.ContainsAny(s, "./") {
				fmt.Fprintf(&b, "[%q]", s)
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// pattern returns the path without indices and without places in the schema of a CRD, to count what is alike.
func (p path) pattern() string {
	names := slices.DeleteFunc(slices.Clone(p), func(step any) bool { _, index := step.(int); return index })
	if i := slices.Index(names, any("openAPIV3Schema")); i >= 0 && i < len(names)-1 {
		names = slices.Concat(names[:i+1], path{"*", names[len(names)-1]})
	}
	return names.String()
}

// scalars returns the paths of the scalars, and of empty lists and maps, in a fixed order.
func scalars(value any, at path) []path {
	var out []path
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, scalars(v[key], append(slices.Clip(at), key))...)
		}
		if len(v) > 0 {
			return out
		}
	case []any:
		for i := range v {
			out = append(out, scalars(v[i], append(slices.Clip(at), i))...)
		}
		if len(v) > 0 {
			return out
		}
	}
	return append(out, at)
}

// get returns the value at a path.
func get(value any, at path) (any, bool) {
	for _, step := range at {
		switch s := step.(type) {
		case string:
			m, _ := value.(map[string]any)
			below, ok := m[s]
			if !ok {
				return nil, false
			}
			value = below
		case int:
			list, _ := value.([]any)
			if s >= len(list) {
				return nil, false
			}
			value = list[s]
		}
	}
	return value, true
}

// set sets the value at a path whose parent exists. The value removed removes it.
func set(root any, at path, value any) {
	parent, _ := get(root, at[:len(at)-1])
	switch last := at[len(at)-1].(type) {
	case string:
		m, _ := parent.(map[string]any)
		if value == removed {
			delete(m, last)
			return
		}
		m[last] = value
	case int:
		list, _ := parent.([]any)
		if value != removed {
			list[last] = value
			return
		}
		above, _ := get(root, at[:len(at)-2])
		if m, ok := above.(map[string]any); ok {
			name, _ := at[len(at)-2].(string)
			m[name] = slices.Delete(slices.Clone(list), last, last+1)
		}
	}
}

// omitted is a value of a plan that the object does not have, such as false, 0 and "" in built-in kinds.
type omitted struct{ value any }

// stated returns the part of an object that the plan states: fields of the plan with the values of the object.
func stated(plan, object any) any {
	switch p := plan.(type) {
	case map[string]any:
		o, ok := object.(map[string]any)
		if !ok {
			return object
		}
		out := map[string]any{}
		for key := range p {
			if value, has := o[key]; has {
				out[key] = stated(p[key], value)
			} else {
				out[key] = omitted{p[key]}
			}
		}
		return out
	case []any:
		o, ok := object.([]any)
		if !ok || len(o) != len(p) {
			return object
		}
		out := make([]any, len(p))
		for i := range p {
			out[i] = stated(p[i], o[i])
		}
		return out
	}
	return object
}

// lacks returns the paths of wanted values that the object does not have. Other fields, and other items of lists, are allowed.
func lacks(want, object any, at path) []path {
	switch w := want.(type) {
	case map[string]any:
		o, ok := object.(map[string]any)
		if !ok {
			return []path{at}
		}
		var out []path
		for _, key := range slices.Sorted(maps.Keys(w)) {
			value, has := o[key]
			if left, omits := w[key].(omitted); omits && (!has || reflect.DeepEqual(left.value, value)) {
				continue
			}
			if !has {
				out = append(out, append(slices.Clip(at), key))
				continue
			}
			out = append(out, lacks(w[key], value, append(slices.Clip(at), key))...)
		}
		return out
	case []any:
		o, ok := object.([]any)
		if !ok {
			return []path{at}
		}
		var out []path
		for i := range w {
			out = append(out, lacksItem(w[i], o, i, append(slices.Clip(at), i))...)
		}
		return out
	}
	if !reflect.DeepEqual(want, object) {
		return []path{at}
	}
	return nil
}

// lacksItem looks for an item at its index first, then anywhere in the list.
func lacksItem(want any, items []any, index int, at path) []path {
	var first []path
	if index < len(items) {
		if first = lacks(want, items[index], at); len(first) == 0 {
			return nil
		}
	}
	for _, item := range items {
		if len(lacks(want, item, at)) == 0 {
			return nil
		}
	}
	if first == nil {
		first = []path{at}
	}
	return first
}

// differences returns the paths at which two values differ.
func differences(a, b any, at path) []path {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	switch v := a.(type) {
	case map[string]any:
		w, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(v)
		maps.Copy(keys, w)
		var out []path
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, differences(v[key], w[key], append(slices.Clip(at), key))...)
		}
		return out
	case []any:
		w, ok := b.([]any)
		if !ok || len(v) != len(w) {
			break
		}
		var out []path
		for i := range v {
			out = append(out, differences(v[i], w[i], append(slices.Clip(at), i))...)
		}
		return out
	}
	return []path{at}
}

// removed is the value of a field that an edit removes.
var removed any = new(int) //nolint:gochecknoglobals // a marker

// words are values of enumerations of built-in kinds.
var words = []any{ //nolint:gochecknoglobals // a table
	"7", "AAAA", "Always", "IfNotPresent", "Cluster", "Local", "NodePort", "ClusterIP", "UDP", "HTTPS", "HTTP", "Recreate", "OnDelete", "Ignore", "Fail",
	"Exact", "Equivalent", "None", "ClientIP", "Retain", "string", "object", "Cluster", "Namespaced", "/x", "v1", "ClusterFirstWithHostNet",
}

// others returns values to put in place of a value, in the order in which an edit tries them; the last one removes the field. Few omits the
// words, for large objects.
func others(value any, few bool) []any {
	switch v := value.(type) {
	case bool:
		return []any{!v, removed}
	case int64:
		return []any{v + 1, v + 1000, v - 1, "7", removed}
	case float64:
		return []any{v + 1, removed}
	case string:
		if few {
			return []any{v + "-x", removed}
		}
		candidates := append([]any{v + "-x", v + "x"}, words...)
		return append(slices.DeleteFunc(candidates, func(c any) bool { return c == v }), removed)
	case map[string]any:
		return []any{map[string]any{"x": "y"}, removed}
	case []any:
		return []any{[]any{"x"}, []any{map[string]any{"name": "x"}}, removed}
	}
	return []any{removed}
}
