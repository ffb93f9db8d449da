package manifests

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlnode "go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/reconcilekit/reconcilekit/internal/text"
)

// verify returns an error if a value of the data was not rendered unchanged: if YAML parses it as structure, as a comment or as another
// type.
//
// A fast check accepts most texts. Otherwise verify renders the text again with a placeholder for each value. The result must parse as
// the same document, with the placeholders in the positions of the values.
func verify(r rendering, root *yamlnode.Node) error {
	if harmless(r, root) {
		return nil
	}
	words := newWords(r)
	decoder := yamlnode.NewDecoder(bytes.NewReader(acceptVersion(words.text)))
	var document, second yamlnode.Node
	if err := decoder.Decode(&document); err != nil || len(document.Content) == 0 {
		return r.lines.fail(root.Line, errors.New("a value is inserted where YAML expects no text; use json or quote for it"))
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return r.lines.fail(root.Line, errTwoDocs)
	}
	if at, err := words.compare(root, document.Content[0]); err != nil {
		return r.lines.fail(at.Line, err)
	}
	return nil
}

// harmless reports whether no value can have changed the structure of the text. A string is harmless if it consists of letters, digits
// and ".-_/", begins with a letter, and none of its lines has a scalar that is not a string. JSON is harmless if a node begins at its
// first byte.
func harmless(r rendering, root *yamlnode.Node) bool {
	texts := map[int]bool{} // lines with a string
	var starts []position   // of JSON
	at := position{line: 1, column: 1}
	for _, p := range r.pieces {
		text := r.text[p.start:p.end]
		switch p.kind {
		case ofValue:
			if !word(text) || p.start > 0 && !before(r.text[p.start-1]) {
				return false
			}
			texts[at.line] = true
		case ofJSON:
			starts = append(starts, at)
		case ofTemplate, ofNumber:
		}
		at = at.after(text)
	}
	s := &scan{texts: texts, starts: starts}
	return s.passes(root) && len(s.starts) == 0
}

// position is a line and a column of a text, starting at 1. Columns count characters.
type position struct{ line, column int }

func (p position) after(text []byte) position {
	if lines := bytes.Count(text, []byte{'\n'}); lines > 0 {
		p.line, p.column = p.line+lines, 1
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	p.column += utf8.RuneCount(text)
	return p
}

// word reports whether YAML parses the text as the same string in every position.
func word(text []byte) bool {
	for i, c := range text {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && strings.IndexByte(".-_/", c) < 0) {
			return false
		}
	}
	return true
}

// before reports whether a word after the character is a separate word.
func before(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(" \n.-_/:,[{('\"", c) >= 0
}

// scan visits the nodes of a document in the order of the text.
type scan struct {
	texts  map[int]bool
	starts []position // starts at which no node has begun so far
}

func (s *scan) passes(node *yamlnode.Node) bool {
	if node.Anchor != "" || node.Kind == yamlnode.AliasNode || node.Style&yamlnode.TaggedStyle != 0 {
		return false
	}
	for len(s.starts) > 0 && s.starts[0] == (position{node.Line, node.Column}) {
		s.starts = s.starts[1:]
	}
	if node.Kind == yamlnode.ScalarNode && s.texts[node.Line] && node.ShortTag() != "!!str" {
		return false
	}
	for _, child := range node.Content {
		if !s.passes(child) {
			return false
		}
	}
	return true
}

// words is a rendered text with a placeholder for each value.
type words struct {
	text  []byte
	begin string // random prefix of the placeholders of this rendering
	of    rendering
}

func newWords(r rendering) *words {
	w := &words{begin: "v" + rand.Text(), of: r}
	for i, p := range r.pieces {
		switch p.kind {
		case ofValue:
			w.text = append(append(append(w.text, w.begin...), strconv.Itoa(i)...), 'v')
		case ofJSON:
			w.text = fmt.Appendf(w.text, "\"%s%dv\"", w.begin, i)
		case ofTemplate, ofNumber:
			w.text = append(w.text, r.text[p.start:p.end]...)
		}
	}
	return w
}

// compare compares the document with the one that has placeholders.
func (w *words) compare(actual, word *yamlnode.Node) (*yamlnode.Node, error) {
	if strings.Contains(word.Anchor, w.begin) || word.Kind == yamlnode.AliasNode && strings.Contains(word.Value, w.begin) ||
		strings.Contains(word.Tag, w.begin) {
		return actual, errors.New("a value is a part of an anchor, an alias or a tag; write it as a value of its own")
	}
	if p, whole := w.whole(word); whole && p.kind == ofJSON {
		return actual, w.sameJSON(actual, p)
	}
	if actual.Kind != word.Kind || len(actual.Content) != len(word.Content) || actual.Anchor != word.Anchor {
		return actual, errStructure
	}
	if actual.Kind == yamlnode.ScalarNode {
		return actual, w.sameText(actual, word)
	}
	for i := range actual.Content {
		if at, err := w.compare(actual.Content[i], word.Content[i]); err != nil {
			return at, err
		}
	}
	return actual, nil
}

var errTwoDocs = errors.New("it renders to several documents; want one object per template")

var errStructure = errors.New("a value would change the structure of the document; use json or quote for it")

// whole returns the piece if the scalar is its placeholder.
func (w *words) whole(node *yamlnode.Node) (piece, bool) {
	number, found := strings.CutPrefix(node.Value, w.begin)
	number, ends := strings.CutSuffix(number, "v")
	i, err := strconv.Atoi(number)
	if node.Kind != yamlnode.ScalarNode || !found || !ends || err != nil || i >= len(w.of.pieces) {
		return piece{}, false
	}
	return w.of.pieces[i], true
}

func (w *words) value(p piece) string { return string(w.of.text[p.start:p.end]) }

func (w *words) sameJSON(actual *yamlnode.Node, p piece) error {
	got, err := asContent(actual)
	if err != nil {
		return errStructure
	}
	var want any
	if utiljson.Unmarshal([]byte(w.value(p)), &want) != nil || !reflect.DeepEqual(got, want) {
		return errStructure
	}
	return nil
}

// sameText checks that a scalar consists of the texts of the template and the values.
func (w *words) sameText(actual, word *yamlnode.Node) error {
	before, rest, has := strings.Cut(word.Value, w.begin)
	if !has {
		if actual.Value != word.Value || actual.ShortTag() != word.ShortTag() {
			return errStructure
		}
		return nil
	}
	var want strings.Builder
	want.WriteString(before)
	for has {
		number, after, _ := strings.Cut(rest, "v")
		i, err := strconv.Atoi(number)
		if err != nil || i >= len(w.of.pieces) || w.of.pieces[i].kind == ofJSON {
			return errors.New("a JSON value is inside another text; use printf before json or quote")
		}
		want.WriteString(w.value(w.of.pieces[i]))
		before, rest, has = strings.Cut(after, w.begin)
		want.WriteString(before)
	}
	if actual.Value != want.String() {
		return fmt.Errorf("the value %s reads as %s in YAML; use json or quote for it", short(want.String()), short(actual.Value))
	}
	return sameType(actual)
}

// sameType rejects a string that YAML parses as another type, unless that has the same text: "3" may be a number.
func sameType(actual *yamlnode.Node) error {
	switch actual.ShortTag() {
	case "!!str", "!!timestamp":
		return nil
	}
	if actual.Value == "" {
		return nil // an empty value for an unset field
	}
	value, err := scalar(actual)
	if err != nil {
		return err
	}
	if text, err := json.Marshal(value); err != nil || value == nil || string(text) != actual.Value {
		return fmt.Errorf("the value %s reads as %v in YAML, which is not a string; use json or quote for it", short(actual.Value), value)
	}
	return nil
}

// short quotes the beginning of a text.
func short(value string) string {
	const most = 67
	return strconv.Quote(text.Cut(value, most))
}
