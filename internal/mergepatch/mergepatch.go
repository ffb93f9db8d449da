package mergepatch

import "reflect"

// Diff is the patch that turns from into to; it is empty when they are equal. Absent and null are the same, because no merge
// patch can store a null. Neither argument is changed; values of to are shared with the patch.
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

// Merge carries out the patch on into, which is changed, and returns it. A nil map is taken as an empty object.
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
