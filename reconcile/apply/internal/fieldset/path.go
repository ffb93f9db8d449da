package fieldset

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// Path names a field. Names are separated by dots. A name with characters other than letters, digits, dash and underscore is written in
// brackets and quotes. An item of a keyed list is selected by its keys in brackets:
//
//	spec.replicas
//	metadata.annotations["example.com/class"]
//	spec.template.spec.containers[name=main].image
//	spec.ports[port=80,protocol=TCP].nodePort
type Path struct {
	elements []pathElement
}

// pathElement is a field name, or the keys of a list item.
type pathElement struct {
	name string
	keys []keyValue
}

// keyValue is one key of a list item.
type keyValue struct {
	key, value string
	// byDefault reports that the value is the default of the key.
	byDefault bool
}

var (
	errPathEmpty   = errors.New("want a field name")
	errPathBracket = errors.New(`want ["name"] or [key=value,...]`)
)

// ParsePath parses a path. A leading dot is allowed. The error names the path and the position.
func ParsePath(text string) (Path, error) {
	var p Path
	rest := strings.TrimPrefix(text, ".")
	for first := true; rest != "" || first; first = false {
		element, after, err := parseElement(rest, first)
		if err != nil {
			return Path{}, fmt.Errorf("path %q at byte %d: %w", text, len(text)-len(rest), err)
		}
		p.elements = append(p.elements, element)
		rest = after
	}
	if p.elements[0].name == "" {
		return Path{}, fmt.Errorf("path %q: %w first", text, errPathEmpty)
	}
	return p, nil
}

func parseElement(text string, first bool) (pathElement, string, error) {
	if strings.HasPrefix(text, "[") {
		return parseBracket(text[1:])
	}
	if !first {
		if !strings.HasPrefix(text, ".") {
			return pathElement{}, "", errPathEmpty
		}
		text = text[1:]
	}
	end := strings.IndexFunc(text, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return pathElement{}, "", errPathEmpty
	}
	return pathElement{name: text[:end]}, text[end:], nil
}

func isNameRune(r rune) bool {
	return r == '-' || r == '_' || r == '$' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func parseBracket(text string) (pathElement, string, error) {
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil || !strings.HasPrefix(text[len(quoted):], "]") {
			return pathElement{}, "", errPathBracket
		}
		name, err := strconv.Unquote(quoted)
		if err != nil || name == "" {
			return pathElement{}, "", errPathBracket
		}
		return pathElement{name: name}, text[len(quoted)+1:], nil
	}
	inside, after, ok := strings.Cut(text, "]")
	if !ok {
		return pathElement{}, "", errPathBracket
	}
	var keys []keyValue
	for item := range strings.SplitSeq(inside, ",") {
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" {
			return pathElement{}, "", errPathBracket
		}
		keys = append(keys, keyValue{key: key, value: value})
	}
	slices.SortFunc(keys, func(a, b keyValue) int { return strings.Compare(a.key, b.key) })
	return pathElement{keys: keys}, after, nil
}

// String returns the canonical form, which [ParsePath] accepts.
func (p Path) String() string {
	var b strings.Builder
	for i, e := range p.elements {
		switch {
		case e.keys != nil:
			b.WriteByte('[')
			for j, kv := range e.keys {
				if j > 0 {
					b.WriteByte(',')
				}
				b.WriteString(kv.key + "=" + kv.value)
			}
			b.WriteByte(']')
		case strings.ContainsFunc(e.name, func(r rune) bool { return !isNameRune(r) }) && i > 0:
			b.WriteString("[" + strconv.Quote(e.name) + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(e.name)
		}
	}
	return b.String()
}

// Steps returns the field names on the path, empty for list items.
func (p Path) Steps() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, e := range p.elements {
			if !yield(e.name) {
				return
			}
		}
	}
}

// Lookup returns the value at the path in unstructured content.
func (p Path) Lookup(content any) (any, bool) {
	for _, e := range p.elements {
		next, ok := e.lookup(content)
		if !ok {
			return nil, false
		}
		content = next
	}
	return content, true
}

func (e pathElement) lookup(content any) (any, bool) {
	if e.keys == nil {
		m, _ := content.(map[string]any)
		v, ok := m[e.name]
		return v, ok
	}
	l, _ := content.([]any)
	for _, item := range l {
		if e.selects(item) {
			return item, true
		}
	}
	return nil, false
}

func (e pathElement) selects(item any) bool {
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for _, kv := range e.keys {
		v, ok := m[kv.key]
		if !ok && !kv.byDefault || ok && fmt.Sprint(v) != kv.value {
			return false
		}
	}
	return true
}

// withDefaults returns a path that also selects items without a key whose default is the wanted value. is reports whether the list at a
// path has this default for the key.
func withDefaults(p Path, is func(list Path, key, value string) bool) Path {
	out := Path{slices.Clone(p.elements)}
	for i := range out.elements {
		e := &out.elements[i]
		e.keys = slices.Clone(e.keys)
		for j := range e.keys {
			kv := &e.keys[j]
			kv.byDefault = is(Path{p.elements[:i]}, kv.key, kv.value)
		}
	}
	return out
}

// Remove removes the value at the path from unstructured content, and maps that become empty. Lists keep their other items.
func (p Path) Remove(content map[string]any) {
	if _, ok := p.Lookup(content); ok {
		remove(content, p.elements)
	}
}

func remove(value any, path []pathElement) any {
	e := path[0]
	if e.keys != nil {
		l, _ := value.([]any)
		return removeItem(l, path)
	}
	m, ok := value.(map[string]any)
	if !ok {
		return value
	}
	below, ok := m[e.name]
	if !ok {
		return value
	}
	if len(path) == 1 {
		delete(m, e.name)
		return m
	}
	below = remove(below, path[1:])
	if content.IsZero(below) {
		delete(m, e.name)
	} else {
		m[e.name] = below
	}
	return m
}

func removeItem(l []any, path []pathElement) any {
	out := make([]any, 0, len(l))
	for _, item := range l {
		if path[0].selects(item) {
			if len(path) == 1 {
				continue
			}
			item = remove(item, path[1:])
		}
		out = append(out, item)
	}
	return out
}

// Owns reports whether a field set has the path or a field below it.
func (p Path) Owns(set *Set) bool {
	for _, e := range p.elements {
		if set == nil {
			return false
		}
		if set.Member && set.Leaf() {
			return true // owned as a whole from here on
		}
		set = e.descend(set)
	}
	return set != nil
}

func (e pathElement) descend(set *Set) *Set {
	if e.keys == nil {
		return set.Field(e.name)
	}
	for i := range set.Items {
		if set.Items[i].Keys != nil && e.selects(set.Items[i].Keys) {
			return set.Items[i].Set
		}
	}
	return nil
}

func containsKeys(all, some []keyValue) bool {
	if (all == nil) != (some == nil) {
		return false
	}
	for _, kv := range some {
		if !slices.ContainsFunc(all, func(o keyValue) bool { return o.key == kv.key && o.value == kv.value }) {
			return false
		}
	}
	return true
}
