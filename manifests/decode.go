package manifests

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

var (
	errNothing   = errors.New("it renders to nothing; omit the child instead")
	errNoKind    = errors.New("apiVersion and kind are required")
	errNotObject = errors.New("it has no metadata, so it is not an object")

	errNoIdentity   = errors.New("apiVersion, kind and metadata.name are required")
	errGenerateName = errors.New("metadata.generateName is set and metadata.name is not; a planned object needs a name that stays the same")
)

// decode decodes a rendered text.
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
	written, ok := content.(map[string]any)
	object := &unstructured.Unstructured{Object: written}
	if gvk := object.GroupVersionKind(); !ok || gvk.Version == "" || gvk.Kind == "" {
		return nil, at.fail(root.Line, errNoKind)
	}
	made, err := s.scheme.New(object.GroupVersionKind())
	if err != nil {
		return nil, at.fail(find(root, "kind").Line, err)
	}
	return checked(made, object, root, at)
}

// checked returns the unstructured object if it decodes as the Go type of its kind. For a kind without a Go type only the metadata is
// checked: a name or a label that is not a string would count as missing.
func checked(made runtime.Object, object *unstructured.Unstructured, root *yamlnode.Node, at lines) (Object, error) {
	if _, is := made.(Object); !is {
		return nil, at.fail(root.Line, errNotObject)
	}
	content := object.Object
	if _, untyped := made.(*unstructured.Unstructured); untyped {
		made, content = &metav1.PartialObjectMetadata{}, headOf(content)
	}
	if err := check(made, content, root, at); err != nil {
		return nil, err
	}
	if _, typed := made.(*metav1.PartialObjectMetadata); typed || !hasNull(object.Object) {
		return object, nil
	}
	read, err := runtime.DefaultUnstructuredConverter.ToUnstructured(made)
	if err != nil {
		return nil, at.fail(root.Line, errWrongValue)
	}
	readNulls(object.Object, read)
	return object, nil
}

// headOf returns the type and the metadata of an object.
func headOf(content map[string]any) map[string]any {
	head := map[string]any{}
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		if value, given := content[key]; given {
			head[key] = value
		}
	}
	return head
}

// check decodes the content strictly. It returns the first error with its line and field.
func check(into runtime.Object, content map[string]any, root *yamlnode.Node, at lines) error {
	strict, err := decodeInto(into, content)
	if err != nil {
		fresh := func(part any) error {
			_, err := decodeInto(reflect.New(reflect.TypeOf(into).Elem()).Interface(), part)
			return err
		}
		path, cause := narrow(content, err, func(part any) any { return part }, fresh)
		return at.fail(find(root, path).Line, fmt.Errorf("field %q: %w", path, wrongValue(cause)))
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

func decodeInto(into, content any) (strict []error, err error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return kjson.UnmarshalStrict(text, into)
}

// narrow returns the path of the smallest part of a value that does not decode on its own, and the error of that part. around embeds the
// part at the position of the value.
func narrow(value any, err error, around func(any) any, decode func(any) error) (string, error) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := func(part any) any { return around(map[string]any{key: part}) }
			if cause := decode(below(v[key])); cause != nil {
				path, cause := narrow(v[key], cause, below, decode)
				return join(key, path), cause
			}
		}
	case []any:
		for i := range v {
			below := func(part any) any { return around([]any{part}) }
			if cause := decode(below(v[i])); cause != nil {
				path, cause := narrow(v[i], cause, below, decode)
				return join("["+strconv.Itoa(i)+"]", path), cause
			}
		}
	}
	return "", err
}

func join(step, path string) string {
	if path == "" || path[0] == '[' {
		return step + path
	}
	return step + "." + path
}

var errWrongValue = errors.New("the value does not fit the type of the field")

// wrongValue describes the type that a field requires. It omits the text of decoders, because some repeat the value, which may be a
// credential.
func wrongValue(err error) error {
	var mismatch *json.UnmarshalTypeError
	var at base64.CorruptInputError
	var moment *time.ParseError
	switch {
	case errors.As(err, &mismatch):
		got, _, _ := strings.Cut(mismatch.Value, " ")
		return fmt.Errorf("want %s, got %s", mismatch.Type, got)
	case errors.As(err, &at):
		return textError{text: fmt.Sprintf("want base64, got another character at position %d", int64(at)), cause: err}
	case errors.Is(err, resource.ErrFormatWrong), errors.Is(err, resource.ErrNumeric), errors.Is(err, resource.ErrSuffix):
		return textError{text: "want a quantity such as 500m or 2Gi", cause: err}
	case errors.As(err, &moment):
		return textError{text: "want a time such as 2006-01-02T15:04:05Z", cause: err}
	}
	return textError{text: errWrongValue.Error(), cause: err}
}

func hasNull(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, below := range v {
			if hasNull(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}

// readNulls replaces the nulls that the Go type reads as a scalar, such as the value of a label, as the API server does. It removes other
// nulls.
func readNulls(written, read any) {
	switch w := written.(type) {
	case map[string]any:
		r, _ := read.(map[string]any)
		for key, value := range w {
			if value != nil {
				readNulls(value, r[key])
				continue
			}
			switch scalar := r[key].(type) {
			case string, bool, int64, float64:
				w[key] = scalar
			default:
				delete(w, key)
			}
		}
	case []any:
		r, _ := read.([]any)
		for i := range min(len(w), len(r)) {
			readNulls(w[i], r[i])
		}
	}
}

// parseDocument parses the text as one YAML document, to find the lines of its fields.
func parseDocument(text []byte, at lines) (*yamlnode.Node, error) {
	decoder := yamlnode.NewDecoder(bytes.NewReader(acceptVersion(text)))
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

// find follows a path such as spec.ports[0].name as far as possible, and returns the key at its end, which has the line.
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
		return step(node.Content[0], part) // the strict decoder omits some indices
	}
	if node.Kind != yamlnode.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == part {
			key, value = node.Content[i], node.Content[i+1] // of several keys, the last is the duplicate
		}
	}
	return key, value
}
