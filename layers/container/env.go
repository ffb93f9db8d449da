package container

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Env merges lists of environment variables. The zero value takes every variable whole.
type Env struct {
	// JSON names the variables whose values are JSON objects and merge in depth, key by key. Where one of two values is no
	// object, or comes from elsewhere (valueFrom), the more specific one counts as it is.
	JSON []string
}

// Merge merges the lists by name, the most specific first: its variables win. Each name appears once, at the place where the
// least specific layer that has it put it, since a value may refer to the variables before it; names that only a more
// specific layer has come behind. Within one list the last of a name counts, as in a container.
func (e Env) Merge(lists ...[]corev1.EnvVar) []corev1.EnvVar {
	var merged []corev1.EnvVar
	for _, list := range slices.Backward(lists) {
		for _, variable := range list {
			at := slices.IndexFunc(merged, func(known corev1.EnvVar) bool { return known.Name == variable.Name })
			switch {
			case at < 0:
				merged = append(merged, *variable.DeepCopy())
			case slices.Contains(e.JSON, variable.Name) && variable.ValueFrom == nil && merged[at].ValueFrom == nil:
				merged[at].Value = mergeJSON(variable.Value, merged[at].Value)
			default:
				merged[at] = *variable.DeepCopy()
			}
		}
	}
	return merged
}

// mergeJSON merges two JSON objects in depth, the first stronger; the first as it is when one of them is no object.
func mergeJSON(upper, lower string) string {
	var strong, weak map[string]any
	if json.Unmarshal([]byte(upper), &strong) != nil || json.Unmarshal([]byte(lower), &weak) != nil || strong == nil || weak == nil {
		return upper
	}
	merged, err := json.Marshal(mergeObjects(strong, weak))
	if err != nil {
		return upper
	}
	return string(merged)
}

// mergeObjects writes upper into lower, in depth, and returns it.
func mergeObjects(upper, lower map[string]any) map[string]any {
	for key, value := range upper {
		inner, isObject := value.(map[string]any)
		if known, both := lower[key].(map[string]any); both && isObject {
			value = mergeObjects(inner, known)
		}
		lower[key] = value
	}
	return lower
}
