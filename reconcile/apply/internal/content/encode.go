package content

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// Encoder encodes Go values as unstructured content, with only the fields that were set. It follows encoding/json with four differences:
// nulls are left out, a null in a list is an error, structs in non-pointer fields are left out if they are empty, and non-nil empty lists
// are kept even if the tag has omitempty. Numbers are int64, float64, or [json.Number] if neither is exact.
type Encoder struct {
	types *typeInfos
}

// NewEncoder returns an encoder.
func NewEncoder() *Encoder { return &Encoder{types: newTypeInfos()} }

// maxDepth is the maximum recursion depth; no API object is nearly as deep.
const maxDepth = 1000

var errTooDeep = errors.New("want values that do not contain themselves")

// Object encodes a struct, or pointer to one, as a map.
func (e *Encoder) Object(obj any) (map[string]any, error) {
	value, err := e.dynamic(reflect.ValueOf(obj), 0)
	if err != nil {
		return nil, err
	}
	m, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("encode %T: want a struct that encodes as a JSON object", obj)
	}
	return m, nil
}

func (e *Encoder) dynamic(v reflect.Value, depth int) (any, error) {
	if !v.IsValid() {
		return nil, nil
	}
	return e.value(e.types.of(v.Type()), v, depth)
}

// value encodes a value; nil if it is not set.
func (e *Encoder) value(t *typeInfo, v reflect.Value, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("encode %s: %w", t.goType, errTooDeep)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return nil, nil
		}
	default:
	}
	switch t.shape {
	case shapeSelf:
		return e.self(t, v)
	case shapePointer:
		return e.value(t.elem, v.Elem(), depth+1)
	case shapeInterface:
		return e.dynamic(v.Elem(), depth+1)
	case shapeStruct:
		return e.structure(t, v, depth)
	case shapeMap:
		return e.mapping(t, v, depth)
	case shapeList:
		return e.list(t, v, depth)
	case shapeBytes:
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	default:
		return scalar(t, v)
	}
}

func scalar(t *typeInfo, v reflect.Value) (any, error) {
	switch t.shape {
	case shapeString:
		return v.String(), nil
	case shapeBool:
		return v.Bool(), nil
	case shapeInt:
		return v.Int(), nil
	case shapeUint:
		return unsigned(v.Uint()), nil
	case shapeFloat:
		return float(v.Float(), v.Type().Bits())
	default:
		return nil, fmt.Errorf("encode %s: kind %s has no JSON form", v.Type(), v.Kind())
	}
}

// self encodes a value with its own JSON method.
func (e *Encoder) self(t *typeInfo, v reflect.Value) (out any, err error) {
	defer recovered(t, &err)
	if t.byPointer {
		if !v.CanAddr() {
			copied := reflect.New(t.goType)
			copied.Elem().Set(v)
			v = copied.Elem()
		}
		v = v.Addr()
	}
	switch x := v.Interface().(type) {
	case toUnstructured:
		return e.unstructured(x.ToUnstructured(), 0)
	case json.Marshaler:
		data, err := x.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", t.goType, err)
		}
		out, err := decode(data)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", t.goType, err)
		}
		return out, nil
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", t.goType, err)
		}
		return string(text), nil
	}
	return nil, fmt.Errorf("encode %s: want a method that encodes it", t.goType)
}

// recovered converts a panic of a type's own method to an error.
func recovered(t *typeInfo, err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("encode %s: its method panics: %v", t.goType, cause)
	}
}

func (e *Encoder) structure(t *typeInfo, v reflect.Value, depth int) (any, error) {
	out := map[string]any{}
	for i := range t.fields {
		f := &t.fields[i]
		fv, ok := f.of(v)
		if !ok || f.omits(fv) {
			continue
		}
		value, err := e.value(f.info, fv, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if m, ok := value.(map[string]any); value == nil || (ok && len(m) == 0 && f.info.shape == shapeStruct) {
			continue
		}
		if f.quoted {
			if value, err = quote(value); err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
		}
		out[f.name] = value
	}
	return out, nil
}

// quote implements the "string" option of a tag: it returns the JSON form of a scalar as a string.
func quote(value any) (any, error) {
	data, err := json.Marshal(value)
	return string(data), err
}

// omits reports whether the tag leaves the value out. Non-nil empty lists are kept, because they are how an author plans an empty list.
func (f *field) omits(v reflect.Value) bool {
	if f.omitEmpty {
		switch v.Kind() {
		case reflect.Map, reflect.String, reflect.Array:
			return v.Len() == 0
		case reflect.Slice:
			return v.IsNil()
		case reflect.Struct:
			// encoding/json keeps these, but the author has not set a zero IntOrString or Quantity that is optional.
			if f.info.shape == shapeSelf && v.IsZero() {
				return true
			}
		default:
			return v.IsZero()
		}
	}
	if f.omitZero {
		if z, ok := v.Interface().(interface{ IsZero() bool }); ok && !nilPointer(v) {
			return z.IsZero()
		}
		return v.IsZero()
	}
	return false
}

func nilPointer(v reflect.Value) bool {
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}

func (e *Encoder) mapping(t *typeInfo, v reflect.Value, depth int) (any, error) {
	out := make(map[string]any, v.Len())
	for it := v.MapRange(); it.Next(); {
		value, err := e.value(t.elem, it.Value(), depth+1)
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		key, err := keyName(it.Key())
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", t.goType, err)
		}
		out[key] = value
	}
	return out, nil
}

// keyName returns the text of a map's key as in encoding/json.
func keyName(key reflect.Value) (string, error) {
	if key.Kind() == reflect.String {
		return key.String(), nil
	}
	if m, ok := key.Interface().(encoding.TextMarshaler); ok {
		if nilPointer(key) {
			return "", nil
		}
		text, err := m.MarshalText()
		return string(text), err
	}
	switch {
	case key.CanInt():
		return strconv.FormatInt(key.Int(), 10), nil
	case key.CanUint():
		return strconv.FormatUint(key.Uint(), 10), nil
	}
	return "", fmt.Errorf("map keys of type %s: want strings, integers or text marshalers", key.Type())
}

func (e *Encoder) list(t *typeInfo, v reflect.Value, depth int) (any, error) {
	out := make([]any, 0, v.Len())
	for i := range v.Len() {
		value, err := e.value(t.elem, v.Index(i), depth+1)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		if value == nil {
			return nil, fmt.Errorf("%d: %w", i, errNullItem)
		}
		out = append(out, value)
	}
	return out, nil
}
