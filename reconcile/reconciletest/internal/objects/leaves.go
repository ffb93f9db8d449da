package objects

import (
	"encoding/base64"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Leaves returns the paths of values in an object, without metadata and status: at most [MaxEdits] of them, spread over the object. left
// is the number of the others.
func Leaves(content map[string]any) (paths [][]string, left int) {
	var out [][]string
	walk(Without(content, "metadata", "status", "apiVersion", "kind"), nil, func(path []string) { out = append(out, path) })
	slices.SortFunc(out, slices.Compare)
	if len(out) <= MaxEdits {
		return out, 0
	}
	for n := range MaxEdits {
		paths = append(paths, out[n*len(out)/MaxEdits])
	}
	return paths, len(out) - MaxEdits
}

func walk(value any, path []string, found func(path []string)) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			walk(inner, append(slices.Clone(path), key), found)
		}
	case []any:
		for n, inner := range v {
			walk(inner, append(slices.Clone(path), strconv.Itoa(n)), found)
		}
	case nil:
	default:
		found(path)
	}
}

// At returns the value at a path.
func At(value any, path []string) (any, bool) {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			inner, there := v[key]
			if !there {
				return nil, false
			}
			value = inner
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(v) {
				return nil, false
			}
			value = v[n]
		default:
			return nil, false
		}
	}
	return value, true
}

// Put sets the value at an existing path.
func Put(value any, path []string, to any) bool {
	holder, there := At(value, path[:len(path)-1])
	if !there {
		return false
	}
	last := path[len(path)-1]
	switch v := holder.(type) {
	case map[string]any:
		v[last] = to
		return true
	case []any:
		n, err := strconv.Atoi(last)
		if err != nil || n >= len(v) {
			return false
		}
		v[n] = to
		return true
	}
	return false
}

// Edits returns other values of the same form, the most usual one first.
func Edits(value any, encoded bool) []any {
	switch v := value.(type) {
	case int64:
		return []any{v + 1, v - 1}
	case bool:
		return []any{!v}
	case string:
		if encoded {
			return []any{base64.StdEncoding.EncodeToString([]byte("edited"))}
		}
		if _, err := time.Parse(time.RFC3339, v); err == nil || v == "" {
			return nil
		}
		if n, err := strconv.Atoi(v); err == nil {
			return []any{strconv.Itoa(n + 1)}
		}
		if _, err := resource.ParseQuantity(v); err == nil {
			return []any{"7"}
		}
		return []any{v + "-edited", v + "x", "x"} // the others are for patterns without a dash, and for length limits
	}
	return nil
}

// MaxEdits is the maximum number of edited values of one object.
const MaxEdits = 6
