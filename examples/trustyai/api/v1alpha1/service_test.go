package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestConversionKeepsObservedGenerations checks that a write of the spec in the older version does not change the observed generation
// of the stored status.
func TestConversionKeepsObservedGenerations(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]map[string]any{
		"of one generation": {"observedGeneration": 3, "phase": "Ready", "conditions": []any{condition("Ready", 3), condition("Available", 3)}},
		"of two":            {"observedGeneration": 3, "phase": "Ready", "conditions": []any{condition("Ready", 3), condition("Available", 2)}},
		"of none":           {"phase": "Ready", "conditions": []any{condition("Ready", 0)}},
		"without a phase":   {"observedGeneration": 3},
		"empty":             {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before, after v1.TrustyAIService
			var older v1alpha1.TrustyAIService
			copyJSON(
				t,
				map[string]any{"metadata": map[string]any{"name": "n", "generation": 3, "annotations": map[string]any{"a": "b"}}, "status": status},
				&before,
			)
			convert(t, &before, &older)
			older.Generation = 4
			convert(t, &older, &after)
			before.Generation = 4
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

// TestStatusOfTheOlderVersion checks that the status of an object that was created in the older version belongs to its current generation.
func TestStatusOfTheOlderVersion(t *testing.T) {
	t.Parallel()
	older, hub := &v1alpha1.TrustyAIService{}, &v1.TrustyAIService{}
	older.Generation, older.Status.Phase, older.Status.Conditions = 3, "Ready", []v1alpha1.Condition{{Type: "Ready"}}
	convert(t, older, hub)
	if s := hub.Status; s.ObservedGeneration != 3 || s.Conditions[0].ObservedGeneration != 3 || s.Conditions[0].LastTransitionTime.IsZero() {
		t.Errorf("got the status %+v", s)
	}
}

func condition(kind string, generation int) map[string]any {
	return map[string]any{
		"type": kind, "status": "True", "observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z",
		"reason": "R", "message": "",
	}
}
