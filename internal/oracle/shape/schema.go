package shape

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Schema returns the shape as the schema of a custom resource definition.
func (s *Shape) Schema() apiextensionsv1.JSONSchemaProps {
	out := apiextensionsv1.JSONSchemaProps{Type: s.Type, Nullable: s.Nullable, Required: s.Required, XEmbeddedResource: s.Embedded}
	if s.Format != QuantityFormat && s.Format != "" {
		out.Format = s.Format
	}
	for _, value := range s.Enum {
		out.Enum = append(out.Enum, raw(value))
	}
	if s.Nullable && len(s.Enum) > 0 {
		out.Enum = append(out.Enum, raw(nil))
	}
	if s.Default != nil {
		value := raw(s.Default)
		out.Default = &value
	}
	if s.Preserve {
		out.XPreserveUnknownFields = &s.Preserve
	}
	out.XIntOrString = s.IntOrString
	if s.MapType != "" {
		out.XMapType = &s.MapType
	}
	if s.ListType != "" {
		out.XListType, out.XListMapKeys = &s.ListType, s.Keys
	}
	if s.Items != nil {
		items := s.Items.Schema()
		out.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}
	}
	if s.Values != nil {
		values := s.Values.Schema()
		out.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &values}
	}
	if len(s.Properties) > 0 {
		out.Properties = make(map[string]apiextensionsv1.JSONSchemaProps, len(s.Properties))
		for name, below := range s.Properties {
			out.Properties[name] = below.Schema()
		}
	}
	return out
}

func raw(value any) apiextensionsv1.JSON {
	data, _ := json.Marshal(value) //nolint:errchkjson // made of JSON values
	return apiextensionsv1.JSON{Raw: data}
}
