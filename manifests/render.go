package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"
)

// Limits of what a template renders and of what [Objects] reads. They are far above what the API server stores.
const (
	maxBytes     = 3 << 20   // of one object: the API server takes requests of 3 MiB
	maxTurns     = 100_000   // of all loops of a template
	maxStream    = 16 << 20  // of a stream
	maxDocuments = 10_000    // of a stream
	maxDepth     = 100       // levels of lists and maps
	maxNodes     = 250_000   // values of one document
	maxRepeated  = 256 << 10 // bytes that the aliases of one document give, each value counted with repeatedNode and its text
	repeatedNode = 64
)

// kindOf reports what a piece of a rendered text is.
type kindOf int

const (
	ofTemplate kindOf = iota // the template's own text
	ofValue                  // a text of the data, as it is
	ofNumber                 // a number or a boolean of the data
	ofJSON                   // a value of the data as JSON
)

// piece is a part of a rendered text.
type piece struct {
	kind       kindOf
	start, end int
	at         place // of the first byte of a template's text
}

// renderer executes the templates of a set for one caller at a time. The templates write into it; what is theirs and
// what is the data's is kept apart beside the text, so that nothing in the text can pass for the other.
type renderer struct {
	set       *Set
	templates *template.Template
	text      []byte
	pieces    []piece
	next      kindOf // what is written next, when it is no text of a template
	turns     int
}

func (s *Set) renderer() (*renderer, error) {
	if r, ok := s.renderers.Get().(*renderer); ok {
		return r, nil
	}
	templates, err := s.templates.Clone()
	if err != nil {
		return nil, err
	}
	r := &renderer{set: s}
	r.templates = templates.Funcs(r.functions())
	return r, nil
}

// release gives the renderer back, with nothing of what it has rendered.
func (s *Set) release(r *renderer) {
	clear(r.text)
	r.text, r.pieces, r.next, r.turns = r.text[:0], r.pieces[:0], ofTemplate, 0
	s.renderers.Put(r)
}

func (r *renderer) functions() template.FuncMap {
	return template.FuncMap{
		"json": asJSON, "quote": asQuoted, functionValue: r.value, functionTurn: r.turn,
	}
}

// encoded is a text that is JSON.
type encoded string

// kind is that of a number for JSON that has no text of anybody.
func (e encoded) kind() kindOf {
	if strings.IndexByte(`"[{`, e[0]) >= 0 {
		return ofJSON
	}
	return ofNumber
}

var errNil = errors.New("the value is nil; use if, with or json for what may be missing")

// value announces what an action writes.
func (r *renderer) value(value any) (any, error) {
	r.next = ofValue
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return nil, errNil
	case reflect.Pointer:
		if v.IsNil() {
			return nil, errNil
		}
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if _, prints := value.(fmt.Stringer); !prints {
			r.next = ofNumber
		}
	case reflect.String:
		if text, is := value.(encoded); is {
			r.next = text.kind()
		}
	default:
	}
	return value, nil
}

// turn counts the turns of loops: a loop that writes nothing would end at no other limit.
func (r *renderer) turn() (string, error) {
	r.next = ofTemplate
	if r.turns++; r.turns > maxTurns {
		return "", fmt.Errorf("the loops of the template take more than %d turns, the limit; shorten what is ranged over", maxTurns)
	}
	return "", nil
}

// Write takes what the templates write: a text of theirs is known by its address, all else is a value.
func (r *renderer) Write(text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil
	}
	if len(text) > maxBytes-len(r.text) {
		return 0, fmt.Errorf("it renders to more than %d bytes, the limit of an object", maxBytes)
	}
	p := piece{kind: max(r.next, ofValue), start: len(r.text), end: len(r.text) + len(text)}
	if at, own := r.set.texts[&text[0]]; own {
		p.kind, p.at = ofTemplate, at
	}
	r.next = ofValue
	r.text = append(r.text, text...)
	r.pieces = append(r.pieces, p)
	return len(text), nil
}

// rendering is a rendered text and where it comes from.
type rendering struct {
	text   []byte
	pieces []piece
	lines  lines
}

// rendered returns the text with the places of its lines: the place of a line is where the template ends it. A line that
// a value ends has the place of the next one that the template ends.
func (r *renderer) rendered(name string) rendering {
	places := make(lines, 0, bytes.Count(r.text, []byte{'\n'})+1)
	last := place{template: name}
	for _, p := range r.pieces {
		at := p.at
		for _, c := range r.text[p.start:p.end] {
			if c != '\n' {
				continue
			}
			places = append(places, at)
			if at.template == name {
				last.line = at.line + 1
			}
			if p.kind == ofTemplate {
				at.line++
			}
		}
	}
	places = append(places, last)
	for i, known := range slices.Backward(places) {
		if known.template == "" {
			places[i] = last
		}
		last = places[i]
	}
	return rendering{text: r.text, pieces: r.pieces, lines: places}
}

var errNoText = errors.New("it has bytes that are no UTF-8 text")

// asQuoted writes a text in double quotes.
func asQuoted(text string) (encoded, error) { return asJSON(text) }

// asJSON writes a value as JSON that YAML reads as the same: without characters that YAML does not allow or takes for
// the end of a line.
func asJSON(value any) (encoded, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	if replaced(text) {
		return "", errNoText
	}
	if !bytes.ContainsFunc(text, unsafeInYAML) {
		return encoded(text), nil
	}
	safe := make([]byte, 0, len(text)+len(text)/4) //nolint:mnd // some of them are escaped
	for _, c := range string(text) {
		if unsafeInYAML(c) {
			safe = fmt.Appendf(safe, `\u%04x`, c)
		} else {
			safe = utf8.AppendRune(safe, c)
		}
	}
	return encoded(safe), nil
}

// unsafeInYAML reports the characters that JSON has in strings and YAML 1.2 does not print (rule 1), or breaks lines at.
func unsafeInYAML(c rune) bool {
	return c >= 0x7f && c <= 0x9f || c == 0xfeff || c == 0xfffe || c == 0xffff
}

// replaced reports whether encoding/json has put a U+FFFD in the place of bytes that are no UTF-8: it writes that one as
// an escape, and one that was there as it is.
func replaced(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(text[i:], []byte(`\ufffd`)) {
			return true
		}
		i++
	}
	return false
}
