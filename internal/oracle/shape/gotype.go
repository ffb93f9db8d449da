package shape

import (
	"fmt"
	"math/rand/v2"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// GoType returns a Go type for values of the shape, as the author of an API could have written it: with or without pointers, with
// omitempty, omitzero or neither, and with types that marshal themselves.
func (s *Shape) GoType(r *rand.Rand) reflect.Type {
	switch {
	case s.IntOrString:
		return reflect.TypeFor[intstr.IntOrString]()
	case s.Embedded:
		return reflect.TypeFor[runtime.RawExtension]()
	case s.Format == QuantityFormat && chance(r, 2):
		return reflect.TypeFor[resource.Quantity]()
	}
	switch s.Type {
	case ObjectType:
		return s.goObject(r)
	case ArrayType:
		return reflect.SliceOf(s.Items.GoType(r))
	case StringType:
		return reflect.TypeFor[string]()
	case IntegerType:
		if s.Format == "int32" {
			return reflect.TypeFor[int32]()
		}
		return reflect.TypeFor[int64]()
	case NumberType:
		return reflect.TypeFor[float64]()
	case BooleanType:
		return reflect.TypeFor[bool]()
	}
	return freeType(r)
}

func (s *Shape) goObject(r *rand.Rand) reflect.Type {
	switch {
	case s.Values != nil:
		return reflect.MapOf(reflect.TypeFor[string](), s.Values.GoType(r))
	case len(s.Properties) == 0:
		return freeType(r)
	}
	fields := make([]reflect.StructField, 0, len(s.Properties))
	for i, name := range s.names() {
		t := s.Properties[name].GoType(r)
		tag := name
		if !s.required(name) {
			tag += pick(r, []string{",omitempty", ",omitempty", ",omitempty", ",omitzero", ""})
			if k := t.Kind(); k != reflect.Map && k != reflect.Slice && !chance(r, 3) {
				t = reflect.PointerTo(t)
			}
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: t, Tag: reflect.StructTag(fmt.Sprintf("json:%q", tag)),
		})
	}
	return reflect.StructOf(fields)
}

// freeType returns a type for any JSON. In the API machinery RawExtension is for objects, but it preserves any bytes.
func freeType(r *rand.Rand) reflect.Type {
	return pick(r, []reflect.Type{
		reflect.TypeFor[apiextensionsv1.JSON](), reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[Own](),
	})
}

// Own is a type that marshals itself and hides its field from encoding/json.
type Own struct {
	// Bytes is the JSON.
	Bytes []byte `json:"-"`
}

// MarshalJSON returns the bytes.
func (o Own) MarshalJSON() ([]byte, error) {
	if len(o.Bytes) == 0 {
		return []byte("null"), nil
	}
	return o.Bytes, nil
}

// UnmarshalJSON stores the bytes.
func (o *Own) UnmarshalJSON(data []byte) error {
	o.Bytes = append([]byte(nil), data...)
	return nil
}
