package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// fieldSet is the set of fields of one managedFields entry as a tree, parsed
// from its fieldsV1 form: "f:name" is a field, "k:{...}" an item of a list with
// keys, "v:..." an item of a list that is a set, "." the node itself.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
type fieldSet struct {
	// member says that the node itself is owned.
	member bool
	fields []namedSet
	items  []itemSet
}

type namedSet struct {
	name string
	set  *fieldSet
}

// itemSet is one list item: by keys, or by value.
type itemSet struct {
	keys  map[string]any // nil for a value
	value any
	set   *fieldSet
}

// leaf says that the node has nothing below it: a scalar, an atomic value, or
// something empty.
func (s *fieldSet) leaf() bool { return len(s.fields) == 0 && len(s.items) == 0 }

func (s *fieldSet) field(name string) *fieldSet {
	for i := range s.fields {
		if s.fields[i].name == name {
			return s.fields[i].set
		}
	}
	return nil
}

const maxFieldDepth = 256 // far above what a schema has; bounds the recursion

// parseFieldSet parses the fieldsV1 form.
func parseFieldSet(raw []byte) (*fieldSet, error) {
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

func (p *fieldParser) node(depth int) (*fieldSet, error) {
	if depth > maxFieldDepth || !p.accept('{') {
		return nil, errUnexpected
	}
	set := &fieldSet{}
	if p.accept('}') {
		set.member = true // a leaf is always owned itself
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

func (s *fieldSet) add(key string, child *fieldSet) error {
	if key == "." {
		s.member = true
		return nil
	}
	kind, rest, ok := strings.Cut(key, ":")
	if !ok {
		return errUnexpected
	}
	switch kind {
	case "f":
		s.fields = append(s.fields, namedSet{name: rest, set: child})
	case "k":
		var keys map[string]any
		if err := json.Unmarshal([]byte(rest), &keys); err != nil || len(keys) == 0 {
			return fmt.Errorf("list item %q: want its keys as a JSON object", rest)
		}
		s.items = append(s.items, itemSet{keys: keys, set: child})
	case "v":
		var value any
		if err := json.Unmarshal([]byte(rest), &value); err != nil {
			return fmt.Errorf("list item %q: want a JSON value", rest)
		}
		s.items = append(s.items, itemSet{value: value, set: child})
	default:
		return errUnexpected
	}
	return nil
}
