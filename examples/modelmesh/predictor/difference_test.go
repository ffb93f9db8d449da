package predictor_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
)

// differences names what is not as wanted: a subset of maps, exact otherwise, with the matchers $absent, $regex and $json.
func differences(path string, want, got any) []string {
	if items, isList := want.([]any); isList {
		if out, typed := differentItems(path, items, got); typed {
			return out
		}
	}
	asked, isMap := want.(map[string]any)
	if !isMap {
		if reflect.DeepEqual(plain(want), plain(got)) {
			return nil
		}
		return []string{fmt.Sprintf("%s: got %v, want %v", path, got, want)}
	}
	if pattern, ok := asked["$regex"].(string); ok {
		if text, _ := got.(string); regexp.MustCompile(pattern).MatchString(text) {
			return nil
		}
		return []string{fmt.Sprintf("%s: got %v, want a match of %s", path, got, pattern)}
	}
	if exact, ok := asked["$json"]; ok {
		if reflect.DeepEqual(plain(exact), plain(got)) {
			return nil
		}
		return []string{fmt.Sprintf("%s: got %v, want %v", path, got, exact)}
	}
	found, _ := got.(map[string]any)
	var out []string
	for field, value := range asked {
		inner, there := found[field]
		if m, ok := value.(map[string]any); ok && m["$absent"] == true {
			if there {
				out = append(out, fmt.Sprintf("%s.%s: got %v, want none", path, field, inner))
			}
			continue
		}
		out = append(out, differences(path+"."+field, value, inner)...)
	}
	return out
}

// differentItems compares lists of conditions by their types.
func differentItems(path string, want []any, got any) (out []string, typed bool) {
	found := map[any]any{}
	list, _ := got.([]any)
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			found[fields["type"]] = item
		}
	}
	for _, item := range want {
		fields, ok := item.(map[string]any)
		if !ok || fields["type"] == nil {
			return nil, false
		}
		out = append(out, differences(fmt.Sprintf("%s[%v]", path, fields["type"]), item, found[fields["type"]])...)
	}
	return out, true
}

// plain is a value as JSON has it, so that numbers compare.
func plain(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return value
	}
	var out any
	_ = json.Unmarshal(text, &out)
	return out
}
