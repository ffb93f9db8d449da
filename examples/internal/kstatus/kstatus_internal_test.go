package kstatus

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	type list = []any
	condition := func(conditionType, status string) any {
		return map[string]any{"type": conditionType, "status": status, "reason": "R", "message": "m"}
	}
	for name, c := range map[string]struct {
		conditions list
		observed   int64
		agrees     bool
	}{
		"ready":                               {list{condition("Ready", "True")}, 2, true},
		"ready and reconciling":               {list{condition("Ready", "True"), condition("Reconciling", "True")}, 2, false},
		"not ready without another condition": {list{condition("Ready", "False")}, 2, true},
		"failed":                              {list{condition("Ready", "False"), condition("Stalled", "True")}, 2, true},
		"failed and reconciling":              {list{condition("Reconciling", "True"), condition("Stalled", "True")}, 2, false},
		"no readiness":                        {list{condition("Available", "True")}, 2, false},
		"of another generation":               {list{condition("Ready", "True")}, 1, true},
		"not observed":                        {nil, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/v1", "kind": "Shop", "metadata": map[string]any{"name": "x", "generation": int64(2)},
				"status": map[string]any{"observedGeneration": c.observed, "conditions": c.conditions},
			}}
			if err := check(owner); (err == nil) != c.agrees {
				t.Errorf("ok = %v, want %v: %v", err == nil, c.agrees, err)
			}
		})
	}
}
