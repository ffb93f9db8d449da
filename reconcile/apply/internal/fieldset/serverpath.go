package fieldset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ServerPath finds the field of content for a path in the notation of the API server, such as
// .spec.ports[port=80,protocol="TCP"].nodePort. The server does not quote names; the content determines where the name in
// .metadata.annotations.example.com/class ends. It returns false if content has no such field.
func ServerPath(content any, text string) (Path, bool) {
	elements, ok := serverElements(content, text)
	return Path{elements: elements}, ok
}

func serverElements(content any, text string) ([]pathElement, bool) {
	if text == "" {
		return nil, true
	}
	switch x := content.(type) {
	case map[string]any:
		return serverName(x, text)
	case []any:
		return serverItem(x, text)
	}
	return nil, false
}

func serverName(m map[string]any, text string) ([]pathElement, bool) {
	for _, name := range namesOf(m, text) {
		if below, ok := serverElements(m[name], text[1+len(name):]); ok {
			return append([]pathElement{{name: name}}, below...), true
		}
	}
	return nil, false
}

// namesOf returns the keys of the map that are a prefix of text, the longest first.
func namesOf(m map[string]any, text string) []string {
	rest, ok := strings.CutPrefix(text, ".")
	if !ok {
		return nil
	}
	var names []string
	for name := range m {
		if after, ok := strings.CutPrefix(rest, name); ok && (after == "" || after[0] == '.' || after[0] == '[') {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	return names
}

func serverItem(l []any, text string) ([]pathElement, bool) {
	keys, rest, ok := serverKeys(text)
	at := slices.IndexFunc(l, func(item any) bool { return ok && meansItem(keys, item) })
	if at < 0 {
		return nil, false
	}
	below, ok := serverElements(l[at], rest)
	return append([]pathElement{{keys: keys}}, below...), ok
}

// meansItem reports whether the keys match the item, which may omit keys with defaults. An item of a set is its own key.
func meansItem(keys []keyValue, item any) bool {
	m, ok := item.(map[string]any)
	if !ok {
		return len(keys) == 1 && keys[0].key == "" && fmt.Sprint(item) == keys[0].value
	}
	for _, kv := range keys {
		if have, set := m[kv.key]; set && fmt.Sprint(have) != kv.value {
			return false
		}
	}
	return true
}

// serverKeys parses [name="main"], [port=80,protocol="TCP"] or [="value"], and returns the remaining text.
func serverKeys(text string) (keys []keyValue, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, "[")
	for ok {
		var key string
		if key, rest, ok = strings.Cut(rest, "="); !ok {
			return nil, "", false
		}
		decoder := json.NewDecoder(strings.NewReader(rest))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, "", false
		}
		keys = append(keys, keyValue{key: key, value: fmt.Sprint(value)})
		rest = rest[decoder.InputOffset():]
		if after, closed := strings.CutPrefix(rest, "]"); closed {
			slices.SortFunc(keys, func(a, b keyValue) int { return strings.Compare(a.key, b.key) })
			return keys, after, true
		}
		rest, ok = strings.CutPrefix(rest, ",")
	}
	return nil, "", false
}

// Leave leaves the field at a path, in the notation of the server or of a comparison, to other managers. Owned parts of it get the live
// value. The other parts are removed, and nodes that become empty. It reports whether want has the field, and returns nil if nothing is
// left.
func Leave(want any, set *Set, live any, text string) (any, bool) {
	if text == "" {
		if set == nil || live == nil {
			return nil, true
		}
		part, ok := OwnedPart(set, want, live)
		if !ok {
			return nil, true
		}
		return part, true
	}
	switch x := want.(type) {
	case map[string]any:
		have, _ := live.(map[string]any)
		return leaveName(x, set, have, text)
	case []any:
		have, _ := live.([]any)
		return leaveItem(x, set, have, text)
	}
	return want, false
}

func leaveName(want map[string]any, set *Set, live map[string]any, text string) (any, bool) {
	for _, name := range namesOf(want, text) {
		var owned *Set
		if set != nil {
			owned = set.Field(name)
		}
		below, ok := Leave(want[name], owned, live[name], text[1+len(name):])
		if !ok {
			continue
		}
		if below != nil {
			want[name] = below
			return want, true
		}
		if delete(want, name); len(want) == 0 {
			return nil, true
		}
		return want, true
	}
	return want, false
}

func leaveItem(want []any, set *Set, live []any, text string) (any, bool) {
	at, rest := itemOf(want, text)
	if at < 0 {
		return want, false
	}
	var owned *Set
	var have any
	if set != nil {
		if i := slices.IndexFunc(set.Items, func(it Item) bool { return it.Means(want[at]) }); i >= 0 {
			owned = set.Items[i].Set
			if j := set.Items[i].find(live); j >= 0 {
				have = live[j]
			}
		}
	}
	below, ok := Leave(want[at], owned, have, rest)
	if !ok {
		return want, false
	}
	out := slices.Clone(want)
	if below != nil {
		out[at] = below
		return out, true
	}
	if out = slices.Delete(out, at, at+1); len(out) == 0 {
		return nil, true
	}
	return out, true
}

// itemOf finds the item that text starts with, by index or by keys, and returns the remaining text. The index is -1 if there is none.
func itemOf(l []any, text string) (at int, rest string) {
	if inside, after, ok := strings.Cut(strings.TrimPrefix(text, "["), "]"); ok {
		if i, err := strconv.Atoi(inside); err == nil && i >= 0 && i < len(l) {
			return i, after
		}
	}
	keys, rest, ok := serverKeys(text)
	if !ok {
		return -1, ""
	}
	return slices.IndexFunc(l, func(item any) bool { return meansItem(keys, item) }), rest
}

// Contains reports whether the other path is this path or below it.
func (p Path) Contains(other Path) bool {
	if len(other.elements) < len(p.elements) {
		return false
	}
	for i, e := range p.elements {
		o := other.elements[i]
		if e.name != o.name || !containsKeys(o.keys, e.keys) {
			return false
		}
	}
	return true
}

// Below returns the part of a field set at the path, nil for none.
func (p Path) Below(set *Set) *Set {
	for _, e := range p.elements {
		if set == nil {
			return nil
		}
		if set.Member && set.Leaf() {
			return set // owned as a whole from here on
		}
		set = e.descend(set)
	}
	return set
}

// PartOf reports whether a field set owns a value as a whole that contains the path.
func (p Path) PartOf(set *Set) bool {
	for _, e := range p.elements {
		if set == nil {
			return false
		}
		if set.Member && set.Leaf() {
			return true
		}
		set = e.descend(set)
	}
	return false
}

// Without returns the field set without the fields at the path, an empty set if none are left. Nodes that are not on the path are shared
// with the original.
func (p Path) Without(set *Set) *Set {
	if p.Below(set) == nil {
		return set
	}
	if left := withoutElements(set, p.elements); left != nil {
		return left
	}
	return &Set{}
}

func withoutElements(set *Set, path []pathElement) *Set {
	if set == nil || len(path) == 0 || set.Leaf() {
		return nil
	}
	out := *set
	e := path[0]
	if e.keys != nil {
		out.Items = slices.Clone(set.Items)
		for i := range out.Items {
			if out.Items[i].Keys != nil && e.selects(out.Items[i].Keys) {
				out.Items[i].Set = withoutElements(out.Items[i].Set, path[1:])
			}
		}
		out.Items = slices.DeleteFunc(out.Items, func(it Item) bool { return it.Keys != nil && it.Set == nil })
		return emptyAsNil(&out)
	}
	out.Fields = slices.Clone(set.Fields)
	for i := range out.Fields {
		if out.Fields[i].Name == e.name {
			out.Fields[i].Set = withoutElements(out.Fields[i].Set, path[1:])
		}
	}
	out.Fields = slices.DeleteFunc(out.Fields, func(f Field) bool { return f.Set == nil })
	return emptyAsNil(&out)
}

// emptyAsNil drops a node that has nothing left below it.
func emptyAsNil(set *Set) *Set {
	if set.Leaf() && !set.Member {
		return nil
	}
	return set
}

// Put sets the value at the path, which must exist in content.
func (p Path) Put(content map[string]any, value any) {
	if value == nil {
		p.Remove(content)
		return
	}
	replace(content, p.elements, value)
}

func replace(content any, path []pathElement, value any) {
	e := path[0]
	switch x := content.(type) {
	case map[string]any:
		if len(path) == 1 {
			x[e.name] = value
			return
		}
		replace(x[e.name], path[1:], value)
	case []any:
		for i := range x {
			if !e.selects(x[i]) {
				continue
			}
			if len(path) == 1 {
				x[i] = value
				return
			}
			replace(x[i], path[1:], value)
		}
	}
}

// Insert sets the value at the path and creates missing maps and items.
func (p Path) Insert(content map[string]any, value any) {
	insert(content, p.elements, value)
}

func insert(content any, path []pathElement, value any) any {
	if len(path) == 0 {
		return value
	}
	e := path[0]
	if e.keys == nil {
		m, ok := content.(map[string]any)
		if !ok {
			m = map[string]any{}
		}
		m[e.name] = insert(m[e.name], path[1:], value)
		return m
	}
	l, _ := content.([]any)
	for i := range l {
		if e.selects(l[i]) {
			l[i] = insert(l[i], path[1:], value)
			return l
		}
	}
	return append(l, insert(nil, path[1:], value))
}

// Child returns the path of a field below this one.
func (p Path) Child(name string) Path {
	return Path{append(p.elements[:len(p.elements):len(p.elements)], pathElement{name: name})}
}

// Len returns the number of names and items in the path.
func (p Path) Len() int { return len(p.elements) }
