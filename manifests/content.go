package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	yamlnode "go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// lineError is an error in a line of a YAML text.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

func wrong(node *yamlnode.Node, format string, args ...any) error {
	return &lineError{line: node.Line, err: fmt.Errorf("yaml: "+format, args...)}
}

// content converts the nodes of a YAML document to JSON values, within the limits of a document.
type content struct {
	nodes    int
	repeated int              // nodes and bytes of text from aliases
	open     []*yamlnode.Node // anchors that are being expanded
}

// asContent returns the document as unstructured content.
func asContent(root *yamlnode.Node) (any, error) { return (&content{}).value(root, 1) }

func (c *content) value(node *yamlnode.Node, depth int) (any, error) {
	if c.nodes++; c.nodes > maxNodes {
		return nil, wrong(node, "the document has more than %d values, the limit", maxNodes)
	}
	if len(c.open) > 0 {
		if err := c.repeat(node); err != nil {
			return nil, err
		}
	}
	if depth > maxDepth {
		return nil, wrong(node, "lists and maps are nested deeper than %d levels, the limit", maxDepth)
	}
	switch node.Kind {
	case yamlnode.AliasNode:
		if slices.Contains(c.open, node.Alias) {
			return nil, wrong(node, "the anchor %q contains itself", node.Value)
		}
		c.open = append(c.open, node.Alias)
		defer func() { c.open = c.open[:len(c.open)-1] }()
		return c.value(node.Alias, depth+1)
	case yamlnode.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			value, err := c.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			if value == nil {
				return nil, wrong(item, "an item of a list is null; write a value or remove the item")
			}
			list = append(list, value)
		}
		return list, nil
	case yamlnode.MappingNode:
		return c.mapping(node, depth)
	case yamlnode.ScalarNode:
		return scalar(node)
	default:
		return nil, wrong(node, "no value")
	}
}

// repeat counts a node from an alias; aliases can expand a short text to a large object.
func (c *content) repeat(node *yamlnode.Node) error {
	if c.repeated += repeatedNode + len(node.Value); c.repeated > maxRepeated {
		return wrong(node, "the aliases of the document give more than %d bytes, with %d for each value; that is the limit", maxRepeated, repeatedNode)
	}
	return nil
}

func (c *content) mapping(node *yamlnode.Node, depth int) (any, error) {
	values := make(map[string]any, len(node.Content)/2) //nolint:mnd // keys and values
	var merged []*yamlnode.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].ShortTag() == "!!merge" {
			merged = append(merged, node.Content[i+1])
			continue
		}
		key, err := c.key(node.Content[i])
		if err != nil {
			return nil, err
		}
		if _, twice := values[key]; twice {
			return nil, wrong(node.Content[i], "key %q is given twice", key)
		}
		if values[key], err = c.value(node.Content[i+1], depth+1); err != nil {
			return nil, err
		}
	}
	for _, from := range merged {
		if err := c.merge(values, from, depth+1); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// merge adds the missing entries of a merge key ("<<"); of several maps the first wins.
func (c *content) merge(values map[string]any, from *yamlnode.Node, depth int) error {
	value, err := c.value(from, depth)
	if err != nil {
		return err
	}
	sources, several := value.([]any)
	if !several {
		sources = []any{value}
	}
	for _, source := range sources {
		entries, ok := source.(map[string]any)
		if !ok {
			return wrong(from, "a merge key wants a map")
		}
		for key, value := range entries {
			if _, there := values[key]; !there {
				values[key] = value
			}
		}
	}
	return nil
}

// key returns the text of a key. JSON keys are strings, so 8080 and "8080" are the same key.
func (c *content) key(node *yamlnode.Node) (string, error) {
	named := node.Kind == yamlnode.AliasNode
	if named {
		node = node.Alias
	}
	if named || len(c.open) > 0 {
		if err := c.repeat(node); err != nil {
			return "", err
		}
	}
	if node.Kind != yamlnode.ScalarNode {
		return "", wrong(node, "a key is a list or a map; want a string")
	}
	if node.ShortTag() == "!!null" {
		return "", wrong(node, "a key is empty or null; want a string")
	}
	if !utf8.ValidString(node.Value) {
		return "", wrong(node, "%w", errNoText)
	}
	return node.Value, nil
}

var errAmbiguous = errors.New("reads as a boolean in YAML 1.1 and as a string in YAML 1.2; write true or false, or put it in quotes")

// scalar returns the value of a scalar by YAML 1.2, with the octal numbers of YAML 1.1 that file modes use.
func scalar(node *yamlnode.Node) (any, error) {
	switch node.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!str", "!!timestamp":
		if !utf8.ValidString(node.Value) {
			return nil, wrong(node, "%w", errNoText)
		}
		if plain(node) && ambiguous(node.Value) {
			return nil, wrong(node, "%q %w", node.Value, errAmbiguous)
		}
		return node.Value, nil
	case "!!bool", "!!int", "!!float":
		var value any
		if err := node.Decode(&value); err != nil {
			return nil, wrong(node, "the value is not of the type %s", node.ShortTag())
		}
		text, err := json.Marshal(value)
		if err != nil { // an infinity
			return nil, wrong(node, "the number %s has no JSON representation", node.Value)
		}
		if err := utiljson.Unmarshal(text, &value); err != nil {
			return nil, wrong(node, "the number %s has no JSON representation", node.Value)
		}
		return value, nil
	case "!!binary":
		var value string
		if err := node.Decode(&value); err != nil || !utf8.ValidString(value) {
			return nil, wrong(node, "a binary value that is not text; put its base64 in quotes, without the tag")
		}
		return value, nil
	}
	return nil, wrong(node, "the tag %s is not supported", node.Tag)
}

// plain reports whether a scalar is neither quoted nor a block.
func plain(node *yamlnode.Node) bool {
	return node.Style&(yamlnode.SingleQuotedStyle|yamlnode.DoubleQuotedStyle|yamlnode.LiteralStyle|yamlnode.FoldedStyle) == 0
}

// ambiguous reports whether text is a boolean in YAML 1.1 but not in YAML 1.2.
func ambiguous(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return false
}

// version is the only version directive that the parser rejects, although it supports the version.
var version = []byte("%YAML 1.2")

// acceptVersion replaces directives for YAML 1.2 by those for 1.1, which have the same length. A directive precedes the first document or
// follows the end of one.
func acceptVersion(text []byte) []byte {
	if !bytes.Contains(text, version) {
		return text
	}
	text = bytes.Clone(text)
	before := true // before a document
	for rest := text; len(rest) > 0; {
		line, below, _ := bytes.Cut(rest, []byte{'\n'})
		trimmed := bytes.TrimSpace(line)
		switch {
		case bytes.Equal(trimmed, []byte("...")):
			before = true
		case before && bytes.HasPrefix(line, version):
			line[len(version)-1] = '1'
		case len(trimmed) > 0 && trimmed[0] != '#' && trimmed[0] != '%':
			before = false
		}
		rest = below
	}
	return text
}
