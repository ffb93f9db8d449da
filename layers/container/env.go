package container

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Env merges lists of environment variables. The zero value replaces entire values.
type Env struct {
	// JSON names the variables whose values are JSON objects and merge recursively. If one of two values is not a JSON object, or uses
	// valueFrom, the more specific value replaces the other.
	JSON []string
}

// Merge merges the lists by name, the most specific list first: its variables win. Each name appears once, at its position in the least
// specific list that has it, because a value may refer to the variables before it. Names that only a more specific list has are appended.
// Within one list the last variable of a name wins, as in a container.
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

// mergeJSON merges two JSON objects recursively; upper wins. It returns upper if one of them is not an object.
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

// mergeObjects merges upper into lower recursively and returns lower.
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
