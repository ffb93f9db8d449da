package recording

import (
	"fmt"
	"maps"
	"slices"
)

// maxDiffers bounds the places that a recording lists.
const maxDiffers = 100

// differences are the places in which two recordings differ, by the names of the second one; texts of the first one are
// replaced before. What was seen is left out.
func differences(a, b *Recording, replace func(string) string) []string {
	var out []string
	walk("", eachText(outputs(a), replace), outputs(b), func(path string) {
		if len(out) < maxDiffers {
			out = append(out, path)
		}
	})
	return out
}

// outputs is what a pass made of what it saw, as a tree.
func outputs(r *Recording) any {
	c, err := content(r)
	if err != nil {
		return nil
	}
	tree, _ := c.tree().(map[string]any)
	for _, seen := range []string{"now", "owner", "redacted", "request"} {
		delete(tree, seen)
	}
	reads, _ := tree["reads"].([]any)
	for _, read := range reads {
		if one, ok := read.(map[string]any); ok {
			delete(one, "object") // which reads there are depends on the phase
		}
	}
	return tree
}

// walk reports the paths of b at which it differs from a. A key that only a has counts as a difference of the map around
// it: it may be made of a secret.
func walk(path string, a, b any, report func(path string)) {
	switch y := b.(type) {
	case map[string]any:
		x, ok := a.(map[string]any)
		if !ok || len(missing(x, y)) > 0 {
			report(path)
			return
		}
		for _, key := range sortedKeys(y) {
			below := key
			if path != "" {
				below = path + "." + key
			}
			walk(below, x[key], y[key], report)
		}
	case []any:
		x, ok := a.([]any)
		if !ok || len(x) != len(y) {
			report(path)
			return
		}
		for i := range y {
			walk(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], report)
		}
	default:
		if a != b {
			report(path)
		}
	}
}

func missing(a, b map[string]any) []string {
	var out []string
	for key := range a {
		if _, there := b[key]; !there {
			out = append(out, key)
		}
	}
	return out
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
