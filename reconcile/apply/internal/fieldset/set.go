package fieldset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Set is the tree of fields of one managedFields entry. In its fieldsV1 form "f:name" is a field, "k:{...}" an item of a keyed list,
// "v:..." an item of a set, and "." the node itself. https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
type Set struct {
	// Member reports that the node itself is owned.
	Member bool
	Fields []Field
	Items  []Item
}

// Field is one field of a map or struct, with the owned fields below it.
type Field struct {
	Name string
	Set  *Set
}

// Item is one list item, identified by keys or by value.
type Item struct {
	Keys  map[string]any // nil for a value
	Value any
	Set   *Set
}

// Leaf reports whether the node has nothing below it: a scalar, an atomic value, or an empty one.
func (s *Set) Leaf() bool { return len(s.Fields) == 0 && len(s.Items) == 0 }

// Field returns the owned part of a field, nil for none.
func (s *Set) Field(name string) *Set {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return s.Fields[i].Set
		}
	}
	return nil
}

const maxFieldDepth = 256 // far above any schema; bounds the recursion

// Parse parses the fieldsV1 form.
func Parse(raw []byte) (*Set, error) {
	p := fieldParser{data: raw}
	set, err := p.node(0)
	if err != nil {
		return nil, fmt.Errorf("fieldsV1 at byte %d: %w", p.pos, err)
	}
	if p.space(); p.pos != len(raw) {
		return nil, fmt.Errorf("fieldsV1 at byte %d: more data after the object", p.pos)
	}
	return set, nil
}

type fieldParser struct {
	data []byte
	pos  int
}

var errUnexpected = errors.New("want nested JSON objects with keys f:, k:, v: or a dot")

func (p *fieldParser) space() {
	for p.pos < len(p.data) && strings.IndexByte(" \t\r\n", p.data[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *fieldParser) accept(c byte) bool {
	p.space()
	if p.pos < len(p.data) && p.data[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *fieldParser) node(depth int) (*Set, error) {
	if depth > maxFieldDepth || !p.accept('{') {
		return nil, errUnexpected
	}
	set := &Set{}
	if p.accept('}') {
		set.Member = true // a leaf is always owned itself
		return set, nil
	}
	for {
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		if !p.accept(':') {
			return nil, errUnexpected
		}
		child, err := p.node(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := set.add(key, child); err != nil {
			return nil, err
		}
		if p.accept('}') {
			return set, nil
		}
		if !p.accept(',') {
			return nil, errUnexpected
		}
	}
}

// key reads a JSON string.
func (p *fieldParser) key() (string, error) {
	if !p.accept('"') {
		return "", errUnexpected
	}
	start, escaped := p.pos, false
	for ; p.pos < len(p.data); p.pos++ {
		switch p.data[p.pos] {
		case '\\':
			escaped = true
			p.pos++
		case '"':
			raw := p.data[start:p.pos]
			p.pos++
			if !escaped {
				return string(raw), nil
			}
			var s string
			err := json.Unmarshal(p.data[start-1:p.pos], &s)
			return s, err
		}
	}
	return "", errUnexpected
}

func (s *Set) add(key string, child *Set) error {
	if key == "." {
		s.Member = true
		return nil
	}
	kind, rest, ok := strings.Cut(key, ":")
	if !ok {
		return errUnexpected
	}
	switch kind {
	case "f":
		s.Fields = append(s.Fields, Field{Name: rest, Set: child})
	case "k":
		var keys map[string]any
		if err := json.Unmarshal([]byte(rest), &keys); err != nil || len(keys) == 0 {
			return fmt.Errorf("list item %q: want its keys as a JSON object", rest)
		}
		s.Items = append(s.Items, Item{Keys: keys, Set: child})
	case "v":
		var value any
		if err := json.Unmarshal([]byte(rest), &value); err != nil {
			return fmt.Errorf("list item %q: want a JSON value", rest)
		}
		s.Items = append(s.Items, Item{Value: value, Set: child})
	default:
		return errUnexpected
	}
	return nil
}
