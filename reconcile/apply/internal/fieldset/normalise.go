package fieldset

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// EqualValues reports whether live is certainly the result of the server for intent. Without a schema only equal JSON is equal, and an
// absent value equals no other value.
func EqualValues(s Schema, intent, live any) bool {
	switch {
	case s.source == sourceServer && s.goType != nil:
		return equalServed(s.goType, intent, live)
	case s.loses():
		return false
	default:
		return equalJSON(s, intent, live)
	}
}

// equalJSON compares by value. A field that only the live object has may be a default in the schema of this field.
func equalJSON(s Schema, intent, live any) bool {
	switch want := intent.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok {
			return false
		}
		for name, w := range want {
			h, exists := have[name]
			if !exists || !equalJSON(s.field(name), w, h) {
				return false
			}
		}
		for name, h := range have {
			if _, planned := want[name]; !planned && !s.isDefault(name, h) {
				return false
			}
		}
		return true
	case []any:
		have, ok := live.([]any)
		if !ok || len(want) != len(have) {
			return false
		}
		for i := range want {
			if !equalJSON(s.elem(), want[i], have[i]) {
				return false
			}
		}
		return true
	default:
		return content.EqualScalars(intent, live)
	}
}

// equalServed reports whether two JSON values are equal in the Go type into which the API server decodes them: a missing value is the zero
// value unless the field is a pointer, quantities are canonical, and defaults are filled in.
func equalServed(t reflect.Type, want, have any) bool {
	if t.Kind() == reflect.Pointer {
		if content.IsAbsent(want) || content.IsAbsent(have) {
			return content.IsAbsent(want) && content.IsAbsent(have)
		}
		return equalServed(t.Elem(), want, have)
	}
	switch t {
	case typeQuantity:
		return equalQuantities(want, have)
	case typeIntOrString:
		return content.EqualScalars(orZero(want, int64(0)), orZero(have, int64(0)))
	}
	if encodesItself(t) {
		return equalJSON(Schema{}, want, have) || (content.IsAbsent(want) && content.IsAbsent(have))
	}
	switch t.Kind() {
	case reflect.Struct:
		return equalStructs(t, want, have)
	case reflect.Map:
		return equalMaps(t.Elem(), want, have)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return content.EqualScalars(orZero(want, ""), orZero(have, ""))
		}
		return equalLists(t.Elem(), want, have)
	case reflect.String:
		return content.EqualScalars(orZero(want, ""), orZero(have, ""))
	case reflect.Bool:
		return content.EqualScalars(orZero(want, false), orZero(have, false))
	default:
		return content.EqualScalars(orZero(want, int64(0)), orZero(have, int64(0)))
	}
}

func orZero(value, zero any) any {
	if content.IsAbsent(value) {
		return zero
	}
	return value
}

func equalStructs(t reflect.Type, want, have any) bool {
	w, wantIs := orZero(want, map[string]any{}).(map[string]any)
	h, haveIs := orZero(have, map[string]any{}).(map[string]any)
	if !wantIs || !haveIs {
		return false
	}
	fields := fieldsOf(t)
	for name, value := range w {
		if !equalField(fields, name, value, get(h, name)) {
			return false
		}
	}
	for name, value := range h {
		if _, planned := w[name]; !planned && !equalField(fields, name, content.Absent{}, value) {
			return false
		}
	}
	return true
}

func equalField(fields map[string]structField, name string, want, have any) bool {
	f, known := fields[name]
	if !known {
		return equalJSON(Schema{}, want, have)
	}
	if equalServed(f.goType, want, have) {
		return true
	}
	unset := content.IsAbsent(want) || (f.goType.Kind() != reflect.Pointer && equalServed(f.goType, want, content.Absent{}))
	return unset && slices.ContainsFunc(defaultsOf(f.in, name), func(d any) bool { return equalServed(f.goType, d, have) })
}

// equalMaps requires the same keys.
func equalMaps(elem reflect.Type, want, have any) bool {
	w, wantIs := orZero(want, map[string]any{}).(map[string]any)
	h, haveIs := orZero(have, map[string]any{}).(map[string]any)
	if !wantIs || !haveIs || len(w) != len(h) {
		return false
	}
	for name, value := range w {
		other, exists := h[name]
		if !exists || !equalServed(elem, value, other) {
			return false
		}
	}
	return true
}

func equalLists(elem reflect.Type, want, have any) bool {
	w, wantIs := orZero(want, []any{}).([]any)
	h, haveIs := orZero(have, []any{}).([]any)
	if !wantIs || !haveIs || len(w) != len(h) {
		return false
	}
	for i := range w {
		if !equalServed(elem, w[i], h[i]) {
			return false
		}
	}
	return true
}

var (
	typeQuantity    = reflect.TypeFor[resource.Quantity]()  //nolint:gochecknoglobals // a constant
	typeIntOrString = reflect.TypeFor[intstr.IntOrString]() //nolint:gochecknoglobals // a constant
)

// equalQuantities reports whether both have the same canonical form.
func equalQuantities(want, have any) bool {
	w, wantIs := canonical(want)
	h, haveIs := canonical(have)
	return wantIs && haveIs && w == h
}

func canonical(value any) (string, bool) {
	var text string
	switch x := orZero(value, "0").(type) {
	case string:
		text = x
	case int64:
		text = strconv.FormatInt(x, 10)
	case float64:
		text = strconv.FormatFloat(x, 'f', -1, 64)
	default:
		return "", false
	}
	q, err := resource.ParseQuantity(text)
	return q.String(), err == nil
}

func get(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	return content.Absent{}
}

// sortedKeys returns the keys; they are sorted only if the order is visible.
func sortedKeys[K cmp.Ordered, V any](m map[K]V, ordered bool) []K {
	keys := make([]K, 0, len(m))
	keys = slices.AppendSeq(keys, maps.Keys(m))
	if ordered {
		slices.Sort(keys)
	}
	return keys
}
