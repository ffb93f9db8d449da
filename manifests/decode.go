package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

var (
	errNothing  = errors.New("it renders to nothing; leave the child out instead")
	errNoKind   = errors.New("apiVersion and kind are required")
	errNoObject = errors.New("it has no metadata, so it is no object")

	errNoIdentity = errors.New("apiVersion, kind and metadata.name are required")
)

// decode makes the typed object of a rendered text.
func (s *Set) decode(r rendering) (Object, error) {
	at := r.lines
	root, err := parseDocument(r.text, at)
	if err != nil {
		return nil, err
	}
	content, err := asContent(root)
	if err != nil {
		return nil, yamlError(err, at)
	}
	if err := verify(r, root); err != nil {
		return nil, err
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(content, &head); err != nil || head.APIVersion == "" || head.Kind == "" {
		return nil, at.fail(root.Line, errNoKind)
	}
	made, err := s.scheme.New(schema.FromAPIVersionAndKind(head.APIVersion, head.Kind))
	if err != nil {
		return nil, at.fail(find(root, "kind").Line, err)
	}
	return filled(made, content, root, at)
}

// filled is what the scheme has made for the kind, with the content. Of a kind without a Go type the metadata is checked, as what
// is no string in it would be taken for missing.
func filled(made runtime.Object, content []byte, root *yamlnode.Node, at lines) (Object, error) {
	if err := fill(made, content, root, at); err != nil {
		return nil, err
	}
	if untyped, ok := made.(*unstructured.Unstructured); ok {
		if err := fill(&metav1.PartialObjectMetadata{}, metadataOf(untyped), root, at); err != nil {
			return nil, err
		}
	}
	object, ok := made.(Object)
	if !ok {
		return nil, at.fail(root.Line, errNoObject)
	}
	return object, nil
}

// fill decodes strictly; the first fault is an error with its line.
func fill(into runtime.Object, content []byte, root *yamlnode.Node, at lines) error {
	strict, err := kjson.UnmarshalStrict(content, into)
	if err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return at.fail(find(root, wrong.Field).Line, fmt.Errorf("field %q: want %s, got %s", wrong.Field, wrong.Type, wrong.Value))
		}
		return at.fail(guess(root, err), err)
	}
	if len(strict) == 0 {
		return nil
	}
	line := root.Line
	var field kjson.FieldError
	if errors.As(strict[0], &field) {
		line = find(root, field.FieldPath()).Line
	}
	return at.fail(line, strict[0])
}

// parseDocument reads the text as one YAML document, for the lines of its fields.
func parseDocument(text []byte, at lines) (*yamlnode.Node, error) {
	decoder := yamlnode.NewDecoder(bytes.NewReader(text))
	var document yamlnode.Node
	if err := decoder.Decode(&document); err != nil || len(document.Content) == 0 {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, at.fail(1, errNothing)
		}
		return nil, yamlError(err, at)
	}
	root := document.Content[0]
	if root.Kind == yamlnode.ScalarNode && root.Tag == "!!null" {
		return nil, at.fail(1, errNothing)
	}
	var second yamlnode.Node
	if err := decoder.Decode(&second); err == nil {
		return nil, at.fail(second.Line, errTwoDocs)
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(err, at)
	}
	return root, nil
}

// yamlLine finds the line in an error of the YAML parser.
var yamlLine = regexp.MustCompile(`line (\d+): `)

func yamlError(err error, at lines) error {
	if known := (*lineError)(nil); errors.As(err, &known) {
		return at.fail(known.line, known.err)
	}
	text := err.Error()
	found := yamlLine.FindStringSubmatchIndex(text)
	if found == nil {
		return at.fail(1, err)
	}
	line, _ := strconv.Atoi(text[found[2]:found[3]])
	return at.fail(line, textError{text: "yaml: " + text[found[1]:], cause: err})
}

// segment is a part of the path of a field: a name, or an index in brackets.
var segment = regexp.MustCompile(`[^.\[\]]+|\[\d+\]`)

// find follows a path such as spec.ports[0].name as far as it goes, and returns the key that it ends at, which has its line.
func find(node *yamlnode.Node, path string) *yamlnode.Node {
	found := node
	for _, part := range segment.FindAllString(path, -1) {
		key, value := step(node, part)
		if value == nil {
			return found
		}
		found, node = key, value
	}
	return found
}

func step(node *yamlnode.Node, part string) (key, value *yamlnode.Node) {
	if strings.HasPrefix(part, "[") {
		index, _ := strconv.Atoi(strings.Trim(part, "[]"))
		if node.Kind == yamlnode.SequenceNode && index < len(node.Content) {
			return node.Content[index], node.Content[index]
		}
		return nil, nil
	}
	if node.Kind == yamlnode.SequenceNode && len(node.Content) > 0 {
		return step(node.Content[0], part) // an encoding/json error leaves the index out
	}
	if node.Kind != yamlnode.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == part {
			key, value = node.Content[i], node.Content[i+1] // the last one of several: it is the one too many
		}
	}
	return key, value
}

// jsonField finds the field in an error of the decoder, which may say it in words only.
var jsonField = regexp.MustCompile(`Go struct field \w+\.([\w.\[\]]+) of type`)

// guess finds the line of an error that names its field in its text at most.
func guess(root *yamlnode.Node, err error) int {
	if found := jsonField.FindStringSubmatch(err.Error()); found != nil {
		return find(root, found[1]).Line
	}
	return root.Line
}

// metadataOf is the JSON of what every object has.
func metadataOf(object *unstructured.Unstructured) []byte {
	head := map[string]any{}
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		head[key] = object.Object[key]
	}
	text, err := json.Marshal(head)
	if err != nil {
		return nil // of values that were JSON, which cannot be
	}
	return text
}
