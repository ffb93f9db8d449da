package manifests

import (
	"errors"
	"io"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Objects decodes a stream of YAML documents, as kustomize and other renderers write it: one object for each document, in
// their order, empty documents left out. Kinds of the scheme become their Go type, strictly as [Set.Render] does it; other
// kinds, and all with a nil scheme, stay unstructured. An error is an [Error] with the name given and the line in the
// stream.
//
// The objects can be planned as they are. Which namespaces and kinds a rendered stream may reach is for the caller to check
// when it does not come from the program itself.
func Objects(name, stream string, scheme *runtime.Scheme) ([]Object, error) {
	var objects []Object
	at := whole(name, stream)
	decoder := yamlnode.NewDecoder(strings.NewReader(stream))
	for {
		var document yamlnode.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, yamlError(err, at)
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
	text, err := yamlnode.Marshal(root)
	if err != nil {
		return nil, at.fail(root.Line, err)
	}
	content, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, at.fail(root.Line, err)
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
		return untyped, nil
	}
	made, err := scheme.New(gvk)
	if err != nil {
		return nil, at.fail(root.Line, err)
	}
	if err := fill(made, content, root, at); err != nil {
		return nil, err
	}
	object, ok := made.(Object)
	if !ok {
		return nil, at.fail(root.Line, errNoObject)
	}
	return object, nil
}
