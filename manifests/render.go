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

// Limits of rendered templates and of [Objects]. They far exceed the limits of the API server.
const (
	maxBytes      = 3 << 20   // of one object: the API server accepts requests of 3 MiB
	maxIterations = 100_000   // of all loops of a template
	maxStream     = 16 << 20  // of a stream
	maxDocuments  = 10_000    // of a stream
	maxDepth      = 100       // levels of lists and maps
	maxNodes      = 250_000   // values of one document
	maxRepeated   = 256 << 10 // bytes from aliases in one document, each value counted with repeatedNode and its text
	repeatedNode  = 64
)

// kindOf is the origin of a piece of rendered text.
type kindOf int

const (
	ofTemplate kindOf = iota // text of the template
	ofValue                  // a string of the data
	ofNumber                 // a number or a boolean of the data
	ofJSON                   // a value of the data as JSON
)

// piece is a part of a rendered text.
type piece struct {
	kind       kindOf
	start, end int
	at         place // of the first byte of a template's text
}

// renderer executes the templates of a set for one caller at a time. The templates write into it. It records the origin of each piece
// separately from the text, so that data cannot imitate a template.
type renderer struct {
	set        *Set
	templates  *template.Template
	text       []byte
	pieces     []piece
	next       kindOf // the kind of the next value
	iterations int
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

// release clears the renderer and returns it to the pool.
func (s *Set) release(r *renderer) {
	clear(r.text)
	r.text, r.pieces, r.next, r.iterations = r.text[:0], r.pieces[:0], ofTemplate, 0
	s.renderers.Put(r)
}

func (r *renderer) functions() template.FuncMap {
	return template.FuncMap{
		"json": asJSON, "quote": asQuoted, functionValue: r.value, functionIteration: r.iteration,
	}
}

// encoded is JSON text.
type encoded string

// kind returns the kind of the JSON: a number if it contains no string of the data.
func (e encoded) kind() kindOf {
	if strings.IndexByte(`"[{`, e[0]) >= 0 {
		return ofJSON
	}
	return ofNumber
}

var errNil = errors.New("the value is nil; use if, with or json for what may be missing")

// value records the value that an action writes.
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

// iteration counts loop iterations, which limits loops that write nothing.
func (r *renderer) iteration() (string, error) {
	r.next = ofTemplate
	if r.iterations++; r.iterations > maxIterations {
		return "", fmt.Errorf("the loops of the template run more than %d iterations, the limit; shorten the lists they range over", maxIterations)
	}
	return "", nil
}

// Write receives the output of the templates. A template's text is recognised by its address; everything else is a value.
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

// rendering is a rendered text and the origin of its lines.
type rendering struct {
	text   []byte
	pieces []piece
	lines  lines
}

// rendered returns the text with the places of its lines: the position at which the template ends the line. A line that a value ends has
// the place of the next one that the template ends.
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

var errNoText = errors.New("it is not valid UTF-8")

// asQuoted writes a text in double quotes.
func asQuoted(text string) (encoded, error) { return asJSON(text) }

// asJSON encodes a value as JSON that is equivalent YAML: without characters that YAML forbids or treats as line breaks.
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

// unsafeInYAML reports whether JSON allows the character in strings but YAML 1.2 does not (rule 1) or breaks lines at it.
func unsafeInYAML(c rune) bool {
	return c >= 0x7f && c <= 0x9f || c == 0xfeff || c == 0xfffe || c == 0xffff
}

// replaced reports whether encoding/json replaced invalid UTF-8 by U+FFFD: it writes the replacement as an escape, and an existing one
// unchanged.
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
