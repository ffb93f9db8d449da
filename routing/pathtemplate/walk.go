package pathtemplate

import (
	"fmt"
	"reflect"
	"strings"
)

// plainSteps splits an expression of fields and keys only, such as ".spec.app['a.b']", into their names; it returns nil for any other.
// This covers most templates, and following names needs neither a parser nor lists of results.
func plainSteps(text string) []string {
	rest := strings.TrimPrefix(text, "$")
	steps := make([]string, 0, 4)
	for rest != "" {
		if key, length := bracketKey(rest); length > 0 {
			steps, rest = append(steps, key), rest[length:]
			continue
		}
		if rest[0] != '.' {
			return nil
		}
		end := 1
		for end < len(rest) && plainByte(rest[end]) {
			end++
		}
		if end == 1 {
			return nil
		}
		steps, rest = append(steps, rest[1:end]), rest[end:]
	}
	if len(steps) == 0 {
		return nil
	}
	return steps
}

// plainByte reports whether c has no special meaning in JSONPath.
func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '/'
}

// walk follows names through structs, by their JSON names, and maps.
func walk(value reflect.Value, steps []string) (reflect.Value, error) {
	for _, step := range steps {
		next := reflect.Value{}
		switch value = indirect(value); value.Kind() {
		case reflect.Struct:
			next = fieldByJSON(value, step)
		case reflect.Map:
			if key := value.Type().Key(); key.Kind() == reflect.String {
				next = value.MapIndex(reflect.ValueOf(step).Convert(key))
			}
		default:
		}
		if !next.IsValid() {
			return next, fmt.Errorf("jsonpath evaluation error: %s is not found", step)
		}
		value = next
	}
	return value, nil
}

// indirect follows pointers and interfaces; the result of a nil one is not valid.
func indirect(value reflect.Value) reflect.Value {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	return value
}

// fieldByJSON returns the field with the JSON name, also of embedded structs, or with the Go name, as JSONPath does.
func fieldByJSON(value reflect.Value, name string) reflect.Value {
	if field := taggedField(value, name); field.IsValid() {
		return field
	}
	return value.FieldByName(name)
}

func taggedField(value reflect.Value, name string) reflect.Value {
	structure := value.Type()
	for i := range structure.NumField() {
		if tag, _, _ := strings.Cut(structure.Field(i).Tag.Get("json"), ","); tag == name {
			return value.Field(i)
		}
	}
	for i := range structure.NumField() {
		field := structure.Field(i)
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != "" || !field.Anonymous {
			continue
		}
		if inner := indirect(value.Field(i)); inner.Kind() == reflect.Struct {
			if found := taggedField(inner, name); found.IsValid() {
				return found
			}
		}
	}
	return reflect.Value{}
}

// bracketKey returns the key of "['key']" or "["key"]" at the start of s and the length of the expression, 0 if there is none.
func bracketKey(s string) (string, int) {
	if len(s) < 2 || s[0] != '[' || s[1] != '\'' && s[1] != '"' {
		return "", 0
	}
	end := strings.IndexByte(s[2:], s[1])
	if end <= 0 || !strings.HasPrefix(s[2+end+1:], "]") || strings.Contains(s[2:2+end], `\`) {
		return "", 0
	}
	return s[2 : 2+end], 2 + end + 2
}
