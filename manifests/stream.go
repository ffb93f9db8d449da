package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Objects decodes a stream of YAML documents, as kustomize and other renderers write it: one object for each document, in order, without
// empty documents. A list (kind List, or a kind such as RoleList) is replaced by its items. Objects are unstructured. Kinds in the scheme
// are checked strictly against their Go type, as [Set.Render] does. For other kinds, and for all kinds if the scheme is nil, only the
// metadata is checked. Two objects of one kind, namespace and name are an error. Errors are of type [Error], with the given name and the
// line in the stream.
//
// The objects can be planned unchanged; [Change] edits one. If the stream does not come from the program itself, the caller must check
// its namespaces and kinds.
func Objects(name, stream string, scheme *runtime.Scheme) ([]Object, error) {
	if len(stream) > maxStream {
		return nil, &Error{Template: name, Err: fmt.Errorf("the stream has %d bytes, at most %d are allowed", len(stream), maxStream)}
	}
	s := streamed{scheme: scheme, at: whole(name, stream), lines: map[identity]int{}}
	decoder := yamlnode.NewDecoder(bytes.NewReader(acceptVersion([]byte(stream))))
	for documents := 1; ; documents++ {
		var document yamlnode.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return s.objects, nil
		}
		if err != nil {
			return nil, yamlError(err, s.at)
		}
		if documents > maxDocuments {
			return nil, s.at.fail(document.Line, fmt.Errorf("the stream has more than %d documents, the limit", maxDocuments))
		}
		if len(document.Content) == 0 || document.Content[0].Tag == "!!null" {
			continue
		}
		root := document.Content[0]
		content, err := asContent(root)
		if err != nil {
			return nil, yamlError(err, s.at)
		}
		if err := s.add(root, content); err != nil {
			return nil, err
		}
	}
}

// streamed is the decoded part of a stream.
type streamed struct {
	scheme  *runtime.Scheme
	at      lines
	objects []Object
	lines   map[identity]int // the line of each object
}

// identity identifies an object independently of its version.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

// whole maps the lines of a text that is not rendered.
func whole(name, text string) lines {
	places := make(lines, strings.Count(text, "\n")+1)
	for i := range places {
		places[i] = place{template: name, line: i + 1}
	}
	return places
}

// add adds the object of the content, or those of a list.
func (s *streamed) add(root *yamlnode.Node, content any) error {
	written, ok := content.(map[string]any)
	if !ok {
		return s.at.fail(root.Line, errNoIdentity)
	}
	object := &unstructured.Unstructured{Object: written}
	if items, is := itemsOf(object); is {
		return s.addItems(object.GroupVersionKind(), items, root)
	}
	gvk := object.GroupVersionKind()
	metadata, _ := written["metadata"].(map[string]any)
	prefix, _ := metadata["generateName"].(string)
	switch {
	case gvk.Version == "" || gvk.Kind == "" || metadata["name"] == nil && prefix == "":
		return s.at.fail(root.Line, errNoIdentity)
	case metadata["name"] == nil:
		return s.at.fail(find(root, "metadata.generateName").Line, errGenerateName)
	}
	var made runtime.Object = &unstructured.Unstructured{}
	if s.scheme != nil && s.scheme.Recognizes(gvk) {
		var err error
		if made, err = s.scheme.New(gvk); err != nil {
			return s.at.fail(find(root, "kind").Line, err)
		}
	}
	decoded, err := checked(made, object, root, s.at)
	if err != nil {
		return err
	}
	if decoded.GetName() == "" {
		return s.at.fail(root.Line, errNoIdentity)
	}
	id := identity{kind: gvk.GroupKind(), namespace: decoded.GetNamespace(), name: decoded.GetName()}
	if first, twice := s.lines[id]; twice {
		return s.at.fail(root.Line, fmt.Errorf("%s %s is given twice, first in line %d", gvk.Kind, id.named(), first))
	}
	if len(s.objects) == maxDocuments {
		return s.at.fail(root.Line, fmt.Errorf("the stream has more than %d objects, the limit", maxDocuments))
	}
	s.lines[id] = s.at.at(root.Line).line
	s.objects = append(s.objects, decoded)
	return nil
}

func (id identity) named() string {
	if id.namespace == "" {
		return id.name
	}
	return id.namespace + "/" + id.name
}

// listSuffix is the suffix of list kinds.
const listSuffix = "List"

// itemsOf returns the items of a list. An object of a custom kind that ends in List has a name, which a list cannot have.
func itemsOf(object *unstructured.Unstructured) (items []any, is bool) {
	if !strings.HasSuffix(object.GetKind(), listSuffix) || object.GroupVersionKind().Version == "" || object.GetName() != "" {
		return nil, false
	}
	value, given := object.Object["items"]
	items, ok := value.([]any)
	return items, given && (ok || value == nil)
}

// addItems adds the items of a list. Items of a typed list may omit their kind.
func (s *streamed) addItems(list schema.GroupVersionKind, items []any, root *yamlnode.Node) error {
	kind := strings.TrimSuffix(list.Kind, listSuffix)
	for i, item := range items {
		node := itemNode(root, i)
		content, ok := item.(map[string]any)
		if !ok {
			return s.at.fail(node.Line, errNoIdentity)
		}
		if kind != "" && content["kind"] == nil && content["apiVersion"] == nil {
			content["apiVersion"], content["kind"] = list.GroupVersion().String(), kind
		}
		if err := s.add(node, content); err != nil {
			return err
		}
	}
	return nil
}

// itemNode returns the node of an item of a list, or that of the list if a merge key provides the item.
func itemNode(root *yamlnode.Node, index int) *yamlnode.Node {
	_, items := step(root, "items")
	if items == nil {
		return root
	}
	_, item := step(resolved(items), "["+strconv.Itoa(index)+"]")
	if item == nil {
		return root
	}
	return resolved(item)
}

// resolved returns the target of an alias.
func resolved(node *yamlnode.Node) *yamlnode.Node {
	if node.Kind == yamlnode.AliasNode {
		return node.Alias
	}
	return node
}
