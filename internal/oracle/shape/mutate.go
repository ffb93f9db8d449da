package shape

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
)

// Mutate returns a copy of the value with one random change, and its description. The change may be none, and may make the value invalid
// by API rules that the schema does not contain.
func (s *Shape) Mutate(r *rand.Rand, value any) (any, string) {
	root := runtime.DeepCopyJSONValue(value)
	var places []place
	collect(&places, place{shape: s, set: func(v any) { root = v }}, root)
	p := pick(r, places)
	description := p.change(r)
	return root, p.path + ": " + description
}

// place is one value inside another, or an absent one.
type place struct {
	path  string
	shape *Shape
	value any
	has   bool
	set   func(any)
	// remove removes the value; nil if it is required.
	remove func()
}

// collect lists the places in a value, parents first.
func collect(places *[]place, p place, value any) {
	p.value, p.has = value, true
	*places = append(*places, p)
	switch x := value.(type) {
	case map[string]any:
		collectFields(places, &p, x)
	case []any:
		for i := range x {
			items := p.shape.Items
			if items == nil {
				items = &Shape{Preserve: true}
			}
			at := place{path: p.path + "[" + strconv.Itoa(i) + "]", shape: items, set: func(v any) { x[i] = v }}
			at.remove = func() { p.set(slices.Delete(x, i, i+1)) }
			collect(places, at, x[i])
		}
	}
}

func collectFields(places *[]place, p *place, m map[string]any) {
	for _, name := range sortedNames(m) {
		if p.shape.Embedded && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue // the server checks their type
		}
		below := p.shape.Properties[name]
		if below == nil {
			below = p.shape.Values
		}
		if below == nil {
			below = &Shape{Preserve: true}
		}
		at := p.field(m, name, below)
		if !p.shape.required(name) {
			at.remove = func() { delete(m, name) }
		}
		collect(places, at, m[name])
	}
	for _, name := range p.shape.names() {
		if _, has := m[name]; !has {
			*places = append(*places, p.field(m, name, p.shape.Properties[name]))
		}
	}
}

func (p *place) field(m map[string]any, name string, below *Shape) place {
	return place{path: p.path + "." + name, shape: below, set: func(v any) { m[name] = v }}
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// change changes the value at the place, and returns a description.
func (p *place) change(r *rand.Rand) string {
	before := "absent"
	if p.has {
		before = Text(p.value)
	}
	switch {
	case !p.has && chance(r, 3):
		return before + " -> " + p.put(p.shape.Zero())
	case !p.has:
		return before + " -> " + p.put(p.shape.Value(r))
	case p.remove != nil && chance(r, 4):
		p.remove()
		return before + " -> absent"
	case chance(r, 6) && !p.shape.Embedded && len(p.shape.Enum) == 0 && p.path != "":
		return before + " -> " + p.put(p.shape.Zero())
	}
	return before + " -> " + p.put(p.other(r))
}

func (p *place) put(value any) string {
	p.set(value)
	return Text(value)
}

// other returns a different value.
func (p *place) other(r *rand.Rand) any {
	switch x := p.value.(type) {
	case string:
		if len(p.shape.Enum) == 0 && p.shape.Format == "" && chance(r, 2) {
			return respell(r, x)
		}
	case int64:
		if (p.shape.Type == IntegerType || p.shape.Type == NumberType) && chance(r, 3) {
			return x + 1
		}
	case map[string]any:
		return p.otherMap(r, x)
	case []any:
		return p.otherList(r, x)
	}
	return p.shape.Value(r)
}

func (p *place) otherMap(r *rand.Rand, m map[string]any) any {
	switch {
	case p.shape.Values != nil:
		m[pick(r, mapKeys())] = p.shape.Values.Value(r)
	case p.shape.Preserve && !p.shape.Embedded:
		m[pick(r, fieldNames())] = freeForm(r, 2)
	default:
		// Missing fields are places of their own.
		for _, name := range p.shape.names() {
			if _, has := m[name]; has && chance(r, 3) {
				m[name] = p.shape.Properties[name].Value(r)
			}
		}
	}
	return m
}

func (p *place) otherList(r *rand.Rand, l []any) any {
	l = slices.Clone(l)
	if len(l) > 1 && chance(r, 2) {
		i, j := r.IntN(len(l)), r.IntN(len(l))
		l[i], l[j] = l[j], l[i]
		return l
	}
	item := freeForm(r, 1)
	if p.shape.Items != nil {
		item = p.shape.Items.Value(r)
	}
	if p.shape.duplicate(l, item) {
		return l
	}
	return slices.Insert(l, r.IntN(len(l)+1), item)
}

// Text formats a value for people and truncates it.
func Text(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	const most = 160
	if len(out) > most {
		return string(out[:most]) + "..."
	}
	return string(out)
}

// Thin returns a copy of the value without some of its optional parts, at any depth.
func (s *Shape) Thin(r *rand.Rand, value any) any {
	root := runtime.DeepCopyJSONValue(value)
	for range 1 + r.IntN(4) {
		var places []place
		collect(&places, place{shape: s, set: func(v any) { root = v }}, root)
		places = slices.DeleteFunc(places, func(p place) bool { return !p.has || p.remove == nil })
		if len(places) == 0 {
			break
		}
		pick(r, places).remove()
	}
	return root
}
