package oracle

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// child is one child of a sequence.
type child struct {
	kind *Kind
	key  client.ObjectKey
	mode apply.Mode
	// seed selects the Go type and the types of numbers.
	seed uint64
	// now is the current plan, accepted the last one that the server accepted.
	now, accepted intention
	// theirs is the other owner's content of an object with a contribution.
	theirs map[string]any
	// live is the stored object; nil if there is none.
	live map[string]any
	// unproven is the resourceVersion of an object that was restored without the proof that the engine made it; empty otherwise.
	unproven string
	// checked reports that nothing has changed since the last comparison with a dry run.
	checked bool
	// lost are the fields that only the engine owned when managedFields were lost, by path; nil if they were not lost, or if the engine
	// cannot know them.
	lost map[string][]string
}

// intention is the plan of a child.
type intention struct {
	content map[string]any
	form    Form
	rules   []apply.FieldRule
}

func (c *child) planned() (apply.Child, error) {
	out, err := c.kind.object(c.now.content, c.now.form, c.key, c.seed)
	out.Mode, out.Fields = c.mode, c.now.rules
	return out, err
}

// seeds returns the paths of the seeded fields.
func (c *child) seeds() []string {
	var out []string
	for _, rule := range c.now.rules {
		if rule.Policy == policy(apply.Seed) {
			out = append(out, rule.Path)
		}
	}
	return out
}

// randomRules returns rules for fields of the content.
func randomRules(r *rand.Rand, content map[string]any) []apply.FieldRule {
	var paths []string
	fieldPaths(&paths, "", content, 3)
	if len(paths) == 0 {
		return nil
	}
	policies := []apply.FieldPolicy{
		policy(apply.Seed), policy(apply.Seed), policy(apply.Force), policy(apply.Force), policy(apply.Ignore), policy(apply.CreateOnly),
	}
	var out []apply.FieldRule
	for range 1 + r.IntN(2) {
		path := paths[r.IntN(len(paths))]
		if slices.ContainsFunc(out, func(o apply.FieldRule) bool {
			return strings.HasPrefix(path, o.Path) || strings.HasPrefix(o.Path, path)
		}) {
			continue
		}
		out = append(out, apply.FieldRule{Path: path, Policy: policies[r.IntN(len(policies))]})
	}
	return out
}

func fieldPaths(out *[]string, prefix string, m map[string]any, depth int) {
	for _, name := range sorted(m) {
		path := prefix + "." + name
		if strings.ContainsAny(name, "./") {
			path = prefix + `["` + name + `"]`
		}
		if below, ok := m[name].(map[string]any); ok && depth > 0 {
			fieldPaths(out, path, below, depth-1)
		}
		if prefix != "" || name == "data" {
			*out = append(*out, strings.TrimPrefix(path, "."))
		}
	}
}

// removePath removes the field at a path of fieldPaths.
func removePath(m map[string]any, path string) {
	names := fieldNames(path)
	last := len(names) - 1
	for _, name := range names[:last] {
		m, _ = m[name].(map[string]any)
	}
	delete(m, names[last])
}

// copyPath copies the value at a path of fieldPaths.
func copyPath(to, from map[string]any, path string) {
	if _, ok := valueAt(from, fieldNames(path)); ok {
		putPath(to, from, path)
		return
	}
	for _, name := range fieldNames(path) {
		below, ok := from[name].(map[string]any)
		if !ok {
			return
		}
		next := map[string]any{}
		to[name] = next
		to, from = next, below
	}
}

// putPath sets the value at a path to that of another object, which has one.
func putPath(to, from map[string]any, path string) {
	names := fieldNames(path)
	value, _ := valueAt(from, names)
	last := len(names) - 1
	for _, name := range names[:last] {
		below, ok := to[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			to[name] = below
		}
		to = below
	}
	to[names[last]] = value
}

func valueAt(from map[string]any, names []string) (any, bool) {
	for _, name := range names[:len(names)-1] {
		from, _ = from[name].(map[string]any)
	}
	value, ok := from[names[len(names)-1]]
	return value, ok
}

// joinNames is the inverse of [fieldNames].
func joinNames(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(`["` + name + `"]`)
	}
	return b.String()
}

// fieldNames returns the names on a path of fieldPaths.
func fieldNames(path string) []string {
	var out []string
	for path != "" {
		name, rest := path, ""
		if strings.HasPrefix(path, `["`) {
			name, rest, _ = strings.Cut(path[2:], `"]`)
		} else if i := strings.IndexAny(path, ".["); i >= 0 {
			name, rest = path[:i], path[i:]
		}
		out = append(out, name)
		path = strings.TrimPrefix(rest, ".")
	}
	return out
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// policy returns the policy of an option for single fields.
func policy(option func(...string) apply.FieldRules) apply.FieldPolicy {
	return option("spec")[0].Policy
}
