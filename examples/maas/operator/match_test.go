package operator_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// memory has values that later expectations compare with.
type memory map[string]any

// differs describes the first difference between an object and its expectation, or returns an empty string. The
// expectation is a subset: each element of an expected list must match some actual one. "re:" starts a regular
// expression, "__keys" lists all keys of an object, "__absent" lists keys that must not exist, "__remember" stores a
// value and "__same" compares with the stored one.
func (m memory) differs(path string, want, have any) string {
	switch want := want.(type) {
	case map[string]any:
		return m.mapDiffers(path, want, have)
	case []any:
		actual, ok := have.([]any)
		if !ok {
			return fmt.Sprintf("%s: %v is not a list", path, have)
		}
		for i, element := range want {
			if !slices.ContainsFunc(actual, func(a any) bool { return m.differs(path, element, a) == "" }) {
				return fmt.Sprintf("%s[%d]: no item matches %v in %v", path, i, element, actual)
			}
		}
		return ""
	case string:
		return m.textDiffers(path, want, have)
	case float64:
		if number, ok := have.(int64); ok && float64(number) == want {
			return ""
		}
	}
	if !reflect.DeepEqual(want, have) {
		return fmt.Sprintf("%s: want %v, have %v", path, want, have)
	}
	return ""
}

func (m memory) mapDiffers(path string, want map[string]any, have any) string {
	actual, ok := have.(map[string]any)
	if !ok && have != nil {
		return fmt.Sprintf("%s: %v is not an object", path, have)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value := want[key]
		switch key {
		case "__keys":
			var keys []string
			for _, k := range value.([]any) {
				keys = append(keys, k.(string))
			}
			slices.Sort(keys)
			if found := slices.Sorted(maps.Keys(actual)); !slices.Equal(keys, found) {
				return fmt.Sprintf("%s: want keys %v, have %v", path, keys, found)
			}
		case "__absent":
			for _, k := range value.([]any) {
				if found, exists := actual[k.(string)]; exists {
					return fmt.Sprintf("%s.%s: want none, have %v", path, k, found)
				}
			}
		default:
			found, exists := actual[key]
			_, nested := value.(map[string]any)
			if !exists && !nested {
				return fmt.Sprintf("%s.%s: want %v, have none in %v", path, key, value, actual)
			}
			if difference := m.differs(path+"."+key, value, found); difference != "" {
				return difference
			}
		}
	}
	return ""
}

func (m memory) textDiffers(path, want string, have any) string {
	if want == "__remember" {
		m[path] = have
		return ""
	}
	if want == "__same" {
		if m[path] != have {
			return fmt.Sprintf("%s: want %v as before, have %v", path, m[path], have)
		}
		return ""
	}
	text, _ := have.(string)
	if pattern, ok := strings.CutPrefix(want, "re:"); ok {
		if !regexp.MustCompile(pattern).MatchString(text) {
			return fmt.Sprintf("%s: %q does not match %s", path, text, pattern)
		}
		return ""
	}
	if text != want {
		return fmt.Sprintf("%s: want %q, have %v", path, want, have)
	}
	return ""
}
