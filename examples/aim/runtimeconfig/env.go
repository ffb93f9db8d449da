package runtimeconfig

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// engineArgsEnv is merged in depth.
const engineArgsEnv = "AIM_ENGINE_ARGS"

// MergeEnv lays lists of variables over each other, the strongest last: by name,
// in the order of first appearance. AIM_ENGINE_ARGS is merged as a JSON object.
func MergeEnv(layers ...[]corev1.EnvVar) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, layer := range layers {
		for _, env := range layer {
			at := slices.IndexFunc(out, func(known corev1.EnvVar) bool { return known.Name == env.Name })
			switch {
			case at < 0:
				out = append(out, env)
			case env.Name == engineArgsEnv && env.ValueFrom == nil && out[at].ValueFrom == nil:
				out[at].Value = mergeJSON(out[at].Value, env.Value)
			default:
				out[at] = env
			}
		}
	}
	return out
}

// mergeJSON merges two JSON objects in depth, the second stronger; the second as
// it is when one of them is no object.
func mergeJSON(lower, upper string) string {
	var a, b map[string]any
	if json.Unmarshal([]byte(lower), &a) != nil || json.Unmarshal([]byte(upper), &b) != nil || a == nil || b == nil {
		return upper
	}
	merged, err := json.Marshal(mergeObjects(a, b))
	if err != nil {
		return upper
	}
	return string(merged)
}

func mergeObjects(lower, upper map[string]any) map[string]any {
	for key, value := range upper {
		inner, isObject := value.(map[string]any)
		if known, both := lower[key].(map[string]any); both && isObject {
			value = mergeObjects(known, inner)
		}
		lower[key] = value
	}
	return lower
}
