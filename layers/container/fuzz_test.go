package container_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/layers/container"
)

// FuzzEnv checks that each merged name appears once, and that the more specific value takes precedence unless both are
// JSON objects.
func FuzzEnv(f *testing.F) {
	f.Add("A", `{"a":1}`, "A", `{"b":2}`)
	f.Add("A", "x", "B", "{")
	f.Fuzz(func(t *testing.T, n1, v1, n2, v2 string) {
		near, far := []corev1.EnvVar{{Name: n1, Value: v1}}, []corev1.EnvVar{{Name: n2, Value: v2}}
		got := container.Env{JSON: []string{"A"}}.Merge(near, far)
		seen := map[string]string{}
		for _, variable := range got {
			if _, twice := seen[variable.Name]; twice {
				t.Errorf("%s appears twice", variable.Name)
			}
			seen[variable.Name] = variable.Value
		}
		if n1 != "A" && seen[n1] != v1 || near[0].Value != v1 || far[0].Value != v2 {
			t.Errorf("got %v of %v and %v", got, near, far)
		}
	})
}
