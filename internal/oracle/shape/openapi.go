package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FromOpenAPI returns the shape of a kind in the OpenAPI v3 document of its group version, without status and identity; of the metadata
// it has only labels and annotations.
func FromOpenAPI(document []byte, gvk schema.GroupVersionKind) (*Shape, error) {
	d := openAPI{shapes: map[string]*Shape{}}
	if err := json.Unmarshal(document, &d.parsed); err != nil {
		return nil, fmt.Errorf("openapi document of %s: %w", gvk.GroupVersion(), err)
	}
	for name := range d.parsed.Components.Schemas {
		node := d.parsed.Components.Schemas[name]
		for _, kind := range node.Kinds {
			if kind.Kind == gvk.Kind && kind.Group == gvk.Group && kind.Version == gvk.Version {
				whole := d.shape(&node)
				return whole.asObject(), nil
			}
		}
	}
	return nil, fmt.Errorf("openapi document of %s: %w %s", gvk.GroupVersion(), errNoKind, gvk.Kind)
}

var errNoKind = errors.New("no schema of kind")

// Object returns the shape of an object with the spec.
func Object(spec *Shape) *Shape {
	return (&Shape{Type: ObjectType, Properties: map[string]*Shape{"spec": spec}, Required: []string{"spec"}}).asObject()
}

// asObject removes the fields that a plan does not set, and the field that makes a ConfigMap or Secret immutable.
func (s *Shape) asObject() *Shape {
	out := *s
	out.Properties = map[string]*Shape{"metadata": metadata()}
	for name, below := range s.Properties {
		switch name {
		case "apiVersion", "kind", "metadata", "status", "immutable":
		default:
			out.Properties[name] = below
		}
	}
	return &out
}

func metadata() *Shape {
	values := &Shape{Type: ObjectType, Values: &Shape{Type: StringType, Enum: []any{"", "a", "b", "1", "1.0", "true"}}}
	return &Shape{Type: ObjectType, Properties: map[string]*Shape{"labels": values, "annotations": values}}
}

type openAPI struct {
	parsed struct {
		Components struct {
			Schemas map[string]openAPINode `json:"schemas"`
		} `json:"components"`
	}
	shapes map[string]*Shape
}

// openAPINode is the relevant part of an OpenAPI schema.
type openAPINode struct {
	Ref        string                  `json:"$ref"`
	AllOf      []openAPINode           `json:"allOf"`
	OneOf      []openAPINode           `json:"oneOf"`
	Type       string                  `json:"type"`
	Format     string                  `json:"format"`
	Properties map[string]*openAPINode `json:"properties"`
	Required   []string                `json:"required"`
	Items      *openAPINode            `json:"items"`
	Values     json.RawMessage         `json:"additionalProperties"`
	Enum       []any                   `json:"enum"`
	ListType   string                  `json:"x-kubernetes-list-type"`
	Keys       []string                `json:"x-kubernetes-list-map-keys"`
	MapType    string                  `json:"x-kubernetes-map-type"`
	Preserve   bool                    `json:"x-kubernetes-preserve-unknown-fields"`

	Kinds []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// named resolves a reference once, because kinds may contain themselves.
func (d *openAPI) named(ref string) *Shape {
	name := ref[strings.LastIndex(ref, "/")+1:]
	if s := d.shapes[name]; s != nil {
		return s
	}
	s := &Shape{}
	d.shapes[name] = s
	switch {
	case strings.HasSuffix(name, ".Quantity"):
		*s = Shape{Type: StringType, Format: QuantityFormat}
	case strings.HasSuffix(name, ".IntOrString"):
		*s = Shape{IntOrString: true}
	default:
		node := d.parsed.Components.Schemas[name]
		*s = *d.shape(&node)
	}
	return s
}

func (d *openAPI) shape(n *openAPINode) *Shape {
	if n.Ref != "" {
		return d.named(n.Ref)
	}
	if len(n.AllOf) == 1 && n.Type == "" {
		return d.shape(&n.AllOf[0])
	}
	s := &Shape{
		Type: n.Type, Format: n.Format, Required: n.Required, Enum: n.Enum, ListType: n.ListType, Keys: n.Keys,
		MapType: n.MapType, Preserve: n.Preserve,
	}
	if s.Type == AnyType {
		s.Preserve = true
	}
	if n.Items != nil {
		s.Items = d.shape(n.Items)
	}
	var values openAPINode
	if len(n.Values) > 0 && json.Unmarshal(n.Values, &values) == nil {
		s.Values = d.shape(&values)
	}
	if len(n.Properties) > 0 {
		s.Properties = make(map[string]*Shape, len(n.Properties))
		for name, below := range n.Properties {
			s.Properties[name] = d.shape(below)
		}
	}
	if s.Type == ObjectType && s.Properties == nil && s.Values == nil {
		s.Preserve = true
	}
	return s
}
