package difference

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// Difference is one difference between two states.
type Difference struct {
	object, path string
	want, got    any // nil is absent
}

func (d Difference) String() string {
	if d.path == "" {
		return fmt.Sprintf("%s: want %s, got %s", d.object, presence(d.want), presence(d.got))
	}
	return fmt.Sprintf("%s: %s: want %s, got %s", d.object, d.path, brief(d.want), brief(d.got))
}

func presence(value any) string {
	if value == nil {
		return "none"
	}
	return "one"
}

const mostShown = 200 // bytes of a value

func brief(value any) string {
	if value == nil {
		return "none"
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(data) > mostShown {
		return string(data[:mostShown]) + "..."
	}
	return string(data)
}

// Between lists the differences between two states, sorted by object and path.
func Between(want, got cluster.State) []Difference {
	var out []Difference
	for _, object := range slices.Sorted(maps.Keys(Union(want, got))) {
		w, g := want[object], got[object]
		if w == nil || g == nil {
			d := Difference{object: object}
			if w != nil {
				d.want = w
			} else {
				d.got = g
			}
			out = append(out, d)
			continue
		}
		leaves(w, g, "", func(path string, w, g any) { out = append(out, Difference{object, path, w, g}) })
	}
	return out
}

// Union returns the keys of both maps.
func Union[V any](a, b map[string]V) map[string]bool {
	out := map[string]bool{}
	for key := range a {
		out[key] = true
	}
	for key := range b {
		out[key] = true
	}
	return out
}

// leaves calls found for each leaf in which two values differ.
func leaves(want, got any, path string, found func(path string, want, got any)) {
	w, isMap := want.(map[string]any)
	g, both := got.(map[string]any)
	if isMap && both {
		for _, key := range slices.Sorted(maps.Keys(Union(w, g))) {
			leaves(w[key], g[key], strings.TrimPrefix(path+"."+key, "."), found)
		}
		return
	}
	wl, isList := want.([]any)
	gl, both := got.([]any)
	if isList && both && len(wl) == len(gl) {
		for n := range wl {
			leaves(wl[n], gl[n], fmt.Sprintf("%s[%d]", path, n), found)
		}
		return
	}
	if !objects.Equal(want, got) {
		found(path, want, got)
	}
}

// Within reports whether got contains everything in want: maps may have more keys, and lists more elements.
func Within(want, got any) bool {
	w, isMap := want.(map[string]any)
	g, both := got.(map[string]any)
	if isMap && both {
		for key, value := range w {
			if inner, there := g[key]; !there || !Within(value, inner) {
				return false
			}
		}
		return true
	}
	wl, isList := want.([]any)
	gl, both := got.([]any)
	if isList && both {
		return !slices.ContainsFunc(wl, func(one any) bool {
			return !slices.ContainsFunc(gl, func(other any) bool { return objects.Equal(one, other) })
		})
	}
	return objects.Equal(want, got)
}

const maxDifferences = 8

// Print formats differences, one line each.
func Print(all []Difference) string {
	var lines []string
	for n, d := range all {
		if n == maxDifferences {
			lines = append(lines, fmt.Sprintf("and %d more", len(all)-n))
			break
		}
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// Random are the random values, found as differences between two runs of the same steps: passwords, keys and values derived from them. The
// first key is the object, the second the path.
type Random map[string]map[string]bool

// Add adds the different texts of two runs of the same steps.
func (d Random) Add(one, other cluster.State) {
	for _, at := range Between(one, other) {
		_, text := at.want.(string)
		_, both := at.got.(string)
		if !text || !both || strings.HasPrefix(at.path, "status.") {
			continue
		}
		if d[at.object] == nil {
			d[at.object] = map[string]bool{}
		}
		d[at.object][at.path] = true
	}
}

// Mask replaces the random values in a state.
func (d Random) Mask(state cluster.State) {
	for object, paths := range d {
		if state[object] != nil {
			maskIn(state[object], "", paths)
		}
	}
}

func maskIn(value any, path string, paths map[string]bool) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = maskIn(v[key], strings.TrimPrefix(path+"."+key, "."), paths)
		}
	case []any:
		for n := range v {
			v[n] = maskIn(v[n], fmt.Sprintf("%s[%d]", path, n), paths)
		}
	case string:
		if paths[path] && v != "" {
			return "random"
		}
	}
	return value
}
