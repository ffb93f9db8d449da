package mergepatch

import "reflect"

// Diff returns the patch that turns from into to; it is empty if they are equal. Absent and null are the same, because a merge patch
// cannot store a null. The arguments are not modified; the patch shares values of to.
func Diff(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range to {
		old, existed := from[name]
		if existed && reflect.DeepEqual(old, value) {
			continue
		}
		oldMap, wasMap := old.(map[string]any)
		newMap, isMap := value.(map[string]any)
		switch {
		case wasMap && isMap:
			out[name] = Diff(oldMap, newMap)
		case value == nil && !existed: // absent and null are the same
		default:
			out[name] = value
		}
	}
	for name := range from {
		if _, kept := to[name]; !kept {
			out[name] = nil
		}
	}
	return out
}

// Merge applies the patch to into, which it modifies and returns. A nil map is an empty object.
func Merge(into, patch map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	for name, value := range patch {
		switch nested := value.(type) {
		case nil:
			delete(into, name)
		case map[string]any:
			old, _ := into[name].(map[string]any)
			into[name] = Merge(old, nested)
		default:
			into[name] = value
		}
	}
	return into
}
