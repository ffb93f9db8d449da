package content

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Encoder turns Go values into unstructured content, keeping only what was
// set. It follows encoding/json with three differences: nulls are left out,
// structs in non-pointer fields are left out when nothing in them remains, and
// non-nil empty lists are kept even where the tag says omitempty.
type Encoder struct {
	plans *structPlans
}

// NewEncoder returns an encoder.
func NewEncoder() *Encoder { return &Encoder{plans: &structPlans{}} }

// toUnstructured is implemented by Time, Quantity and IntOrString.
type toUnstructured interface{ ToUnstructured() any }

// Object encodes a struct, or pointer to one, as a map.
func (e *Encoder) Object(obj any) (map[string]any, error) {
	value, err := e.value(reflect.ValueOf(obj))
	if err != nil {
		return nil, err
	}
	m, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("encode %T: want a struct that encodes as a JSON object", obj)
	}
	return m, nil
}

// value returns nil for what is not set.
func (e *Encoder) value(v reflect.Value) (any, error) {
	if !v.IsValid() {
		return nil, nil
	}
	if k := v.Kind(); (k == reflect.Pointer || k == reflect.Interface || k == reflect.Map || k == reflect.Slice) && v.IsNil() {
		return nil, nil
	}
	if out, done, err := marshaled(v); done {
		return out, err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return e.value(v.Elem())
	case reflect.Struct:
		out := map[string]any{}
		return out, e.structInto(v, out)
	case reflect.Map:
		return e.mapping(v)
	case reflect.Slice, reflect.Array:
		return e.list(v)
	default:
		return scalar(v)
	}
}

func scalar(v reflect.Value) (any, error) {
	switch {
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.Kind() == reflect.Bool:
		return v.Bool(), nil
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint():
		return int64(v.Uint()), nil //nolint:gosec // JSON content of the API has no larger numbers
	case v.CanFloat():
		return v.Float(), nil
	default:
		return nil, fmt.Errorf("encode %s: kind %s has no JSON form", v.Type(), v.Kind())
	}
}

// marshaled encodes types that know how to encode themselves.
func marshaled(v reflect.Value) (out any, done bool, err error) {
	t := v.Type()
	if t.PkgPath() == "" && t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		return nil, false, nil // a builtin or unnamed type has no methods
	}
	if !v.CanInterface() {
		return nil, false, nil
	}
	m := v
	if v.Kind() != reflect.Pointer && v.CanAddr() {
		m = v.Addr()
	} else if v.Kind() == reflect.Struct {
		m = reflect.New(t)
		m.Elem().Set(v)
	}
	switch x := m.Interface().(type) {
	case toUnstructured:
		return x.ToUnstructured(), true, nil
	case json.Marshaler:
		data, err := x.MarshalJSON()
		if err != nil {
			return nil, true, fmt.Errorf("encode %s: %w", t, err)
		}
		err = utiljson.Unmarshal(data, &out)
		return out, true, err
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		return string(text), true, err
	}
	return nil, false, nil
}

func (e *Encoder) structInto(v reflect.Value, out map[string]any) error {
	plan := e.plans.of(v.Type())
	for i := range plan.fields {
		f := &plan.fields[i]
		fv := v.Field(f.index)
		if f.inline {
			if fv.Kind() == reflect.Pointer {
				if fv.IsNil() {
					continue
				}
				fv = fv.Elem()
			}
			if err := e.structInto(fv, out); err != nil {
				return err
			}
			continue
		}
		if f.omits(fv) {
			continue
		}
		value, err := e.value(fv)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if m, ok := value.(map[string]any); value == nil || (ok && len(m) == 0 && fv.Kind() == reflect.Struct) {
			continue
		}
		out[f.name] = value
	}
	return nil
}

// omits says whether the tag leaves the value out. Empty lists that are not
// nil stay: setting one is how an author says "none".
func (f *fieldPlan) omits(v reflect.Value) bool {
	if f.omitEmpty {
		switch v.Kind() {
		case reflect.Map, reflect.String, reflect.Array:
			return v.Len() == 0
		case reflect.Slice:
			return v.IsNil()
		case reflect.Struct:
			// encoding/json keeps these, but a zero IntOrString or Quantity
			// that need not be there was not set by anybody.
			if _, done, _ := marshaled(v); done && v.IsZero() {
				return true
			}
		default:
			return v.IsZero()
		}
	}
	if f.omitZero {
		if z, ok := v.Interface().(interface{ IsZero() bool }); ok {
			return z.IsZero()
		}
		return v.IsZero()
	}
	return false
}

func (e *Encoder) mapping(v reflect.Value) (any, error) {
	out := make(map[string]any, v.Len())
	for it := v.MapRange(); it.Next(); {
		value, err := e.value(it.Value())
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		key := it.Key()
		switch {
		case key.Kind() == reflect.String:
			out[key.String()] = value
		case key.CanInt():
			out[strconv.FormatInt(key.Int(), 10)] = value
		default:
			return nil, fmt.Errorf("encode %s: map keys must be strings", v.Type())
		}
	}
	return out, nil
}

func (e *Encoder) list(v reflect.Value) (any, error) {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return base64.StdEncoding.EncodeToString(v.Bytes()), nil
	}
	out := make([]any, 0, v.Len())
	for i := range v.Len() {
		value, err := e.value(v.Index(i))
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		if value != nil {
			out = append(out, value)
		}
	}
	return out, nil
}
