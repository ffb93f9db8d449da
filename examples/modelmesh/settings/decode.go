package settings

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// decode fills the target, a pointer to a struct, with a JSON or YAML document. It converts strings to numbers and booleans, and a
// single value to a list of one. For an invalid value, such as a negative count, it returns an error that names the field.
func decode(document map[string]any, target any) error {
	return set(reflect.ValueOf(target).Elem(), document, "")
}

func set(into reflect.Value, value any, path string) error {
	text, ok := asText(value)
	var err error
	switch into.Kind() { //nolint:exhaustive // the kinds in Config
	case reflect.Struct:
		return setStruct(into, value, path)
	case reflect.Slice:
		return setList(into, value, path)
	case reflect.Map:
		return setMap(into, value, path)
	case reflect.Bool:
		var parsed bool
		parsed, err = strconv.ParseBool(text)
		into.SetBool(parsed)
	case reflect.Uint16:
		var number uint64
		number, err = strconv.ParseUint(text, 10, 16)
		into.SetUint(number)
	case reflect.Int:
		var number int64
		number, err = strconv.ParseInt(text, 10, 64)
		into.SetInt(number)
	default:
		into.SetString(text)
	}
	if !ok || err != nil {
		return fmt.Errorf("'%s': %v is no %s%s", path, value, into.Kind(), bounds(into.Kind()))
	}
	return nil
}

func bounds(kind reflect.Kind) string {
	if kind == reflect.Uint16 {
		return fmt.Sprintf("; want a number from 0 to %d", math.MaxUint16)
	}
	return ""
}

// asText returns a single value as a string.
func asText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}

func setStruct(into reflect.Value, value any, path string) error {
	given, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("'%s': want a mapping, got %v", path, value)
	}
	for i := range into.NumField() {
		name := into.Type().Field(i).Name
		for key, inner := range given {
			if !strings.EqualFold(key, name) || inner == nil {
				continue
			}
			if err := set(into.Field(i), inner, join(path, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func setList(into reflect.Value, value any, path string) error {
	given, ok := value.([]any)
	if !ok {
		given = []any{value}
	}
	list := reflect.MakeSlice(into.Type(), len(given), len(given))
	for i := range given {
		if err := set(list.Index(i), given[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	into.Set(list)
	return nil
}

func setMap(into reflect.Value, value any, path string) error {
	given, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("'%s': want a mapping, got %v", path, value)
	}
	out := reflect.MakeMap(into.Type())
	for key, inner := range given {
		text, ok := asText(inner)
		if !ok {
			return fmt.Errorf("'%s': %v is no text", join(path, key), inner)
		}
		out.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(text))
	}
	into.Set(out)
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
