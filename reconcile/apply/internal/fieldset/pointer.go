package fieldset

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Place is an existing field of an object.
type Place struct {
	// Text is the path in the notation of the API server: .spec.ports[port=80].nodePort.
	Text string
	// Pointer is the JSON pointer (RFC 6901): /spec/ports/0/nodePort.
	Pointer string
	// Value is the value of the field.
	Value any
	// Path is the path that selected the field.
	Path Path
	// Items are the list items on the path.
	Items []ItemKey

	steps []placeStep
}

// ItemKey is a key of a list item, which identifies the item.
type ItemKey struct {
	// Pointer is the JSON pointer of the key.
	Pointer string
	// Value is the value of the key.
	Value any
}

// placeStep is one name or index of a place.
type placeStep struct {
	name  string
	index int // -1 for a name
}

// Places returns all places in content that the paths select: several if the keys of a path select several items of a list, and none below
// another place. Later list items come first, so that the places can be removed in this order.
func Places(content any, paths ...Path) []Place {
	var all []Place
	for _, p := range paths {
		all = append(all, places(Place{Path: p}, p.elements, content)...)
	}
	slices.SortFunc(all, func(a, b Place) int {
		return slices.CompareFunc(a.steps, b.steps, func(a, b placeStep) int {
			return cmp.Or(strings.Compare(a.name, b.name), -cmp.Compare(a.index, b.index))
		})
	})
	var out []Place
	for _, p := range all {
		if len(out) == 0 || !p.within(&out[len(out)-1]) {
			out = append(out, p)
		}
	}
	return out
}

// within reports whether the place is the other one or below it.
func (p *Place) within(other *Place) bool {
	return len(p.steps) >= len(other.steps) && slices.Equal(p.steps[:len(other.steps)], other.steps)
}

func places(at Place, path []pathElement, content any) []Place {
	if len(path) == 0 {
		at.Value = content
		return []Place{at}
	}
	e := path[0]
	if e.keys == nil {
		m, _ := content.(map[string]any)
		below, ok := m[e.name]
		if !ok {
			return nil
		}
		return places(at.below(placeStep{e.name, -1}, "."+e.name, PointerToken(e.name)), path[1:], below)
	}
	var out []Place
	list, _ := content.([]any)
	for i, item := range list {
		if !e.selects(item) {
			continue
		}
		pointer := "/" + strconv.Itoa(i)
		var text []string
		var keys []ItemKey
		for _, kv := range e.keys {
			value := item.(map[string]any)[kv.key] //nolint:forcetypeassert // selects has looked
			text = append(text, kv.key+"="+rendered(value))
			keys = append(keys, ItemKey{at.Pointer + pointer + PointerToken(kv.key), value})
		}
		below := at.below(placeStep{"", i}, "["+strings.Join(text, ",")+"]", pointer)
		below.Items = append(below.Items, keys...)
		out = append(out, places(below, path[1:], item)...)
	}
	return out
}

func (p Place) below(s placeStep, text, pointer string) Place {
	return Place{
		Text: p.Text + text, Pointer: p.Pointer + pointer, Path: p.Path, Items: slices.Clone(p.Items), steps: append(slices.Clone(p.steps), s),
	}
}

// PointerToken returns the reference token of a name in a JSON pointer, with its slash.
func PointerToken(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
