package manifests

import (
	"errors"
	"fmt"
	"io"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Objects decodes a stream of YAML documents, as kustomize and other renderers write it: one object for each document, in
// their order, empty documents left out. Kinds of the scheme become their Go type, strictly as [Set.Render] does it; other
// kinds, and all with a nil scheme, stay unstructured, with metadata that is checked. An error is an [Error] with the name given and the line in the
// stream.
//
// The objects can be planned as they are. Which namespaces and kinds a rendered stream may reach is for the caller to check
// when it does not come from the program itself.
func Objects(name, stream string, scheme *runtime.Scheme) ([]Object, error) {
	if len(stream) > maxStream {
		return nil, &Error{Template: name, Err: fmt.Errorf("the stream has %d bytes, at most %d are allowed", len(stream), maxStream)}
	}
	var objects []Object
	at := whole(name, stream)
	decoder := yamlnode.NewDecoder(strings.NewReader(stream))
	for documents := 1; ; documents++ {
		var document yamlnode.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, yamlError(err, at)
		}
		if documents > maxDocuments {
			return nil, at.fail(document.Line, fmt.Errorf("the stream has more than %d documents, the limit", maxDocuments))
		}
		if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
			continue
		}
		object, err := decodeNode(document.Content[0], scheme, at)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// whole is where the lines of a text come from that no template has moved.
func whole(name, text string) lines {
	places := make(lines, strings.Count(text, "\n")+1)
	for i := range places {
		places[i] = place{template: name, line: i + 1}
	}
	return places
}

func decodeNode(root *yamlnode.Node, scheme *runtime.Scheme, at lines) (Object, error) {
	content, err := asContent(root)
	if err != nil {
		return nil, yamlError(err, at)
	}
	untyped := &unstructured.Unstructured{}
	if err := untyped.UnmarshalJSON(content); err != nil {
		return nil, at.fail(root.Line, err)
	}
	gvk := untyped.GroupVersionKind()
	if gvk.Version == "" || untyped.GetName() == "" {
		return nil, at.fail(root.Line, errNoIdentity)
	}
	if scheme == nil || !scheme.Recognizes(gvk) {
		return filled(untyped, content, root, at)
	}
	made, err := scheme.New(gvk)
	if err != nil {
		return nil, at.fail(root.Line, err)
	}
	return filled(made, content, root, at)
}
