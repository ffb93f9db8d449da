package predictor_test

import (
	"fmt"
	"reflect"
)

// differences lists the fields that differ: maps are compared as subsets, other values exactly.
func differences(path string, want, got any) []string {
	if items, isList := want.([]any); isList {
		if out, typed := differentItems(path, items, got); typed {
			return out
		}
	}
	asked, isMap := want.(map[string]any)
	if !isMap {
		if reflect.DeepEqual(want, got) {
			return nil
		}
		return []string{fmt.Sprintf("%s: got %v, want %v", path, got, want)}
	}
	found, _ := got.(map[string]any)
	var out []string
	for field, value := range asked {
		out = append(out, differences(path+"."+field, value, found[field])...)
	}
	return out
}

// differentItems compares lists of conditions by type.
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
