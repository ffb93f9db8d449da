package aimservice_test

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// TestSelectTemplateNormalisesGPUs checks that a GPU matches whether it is named as nodes, profiles or users name it.
func TestSelectTemplateNormalisesGPUs(t *testing.T) {
	t.Parallel()
	template := readyTemplate("ns", "t", "m")
	template.Status.Profile.Metadata.GPU = "MI300X"
	candidates := []aimservice.TemplateCandidate{{
		Name: template.Name, Namespace: "ns", Scope: aimv1alpha1.AIMResolutionScopeNamespace,
		Spec: template.Spec.AIMServiceTemplateSpecCommon, Status: template.Status,
	}}
	for available, want := range map[string]bool{
		"MI300X": true, "Mi300X": true, "AMD Instinct MI300X (rev 2)": true, "mi300x ": true,
		"MI325X": false, "MI300": false, "": false,
	} {
		best, _, counts, _ := aimservice.SelectTemplate(candidates, nil, []string{available}, true)
		if got := best != nil; got != want || (counts.AfterGPUAvailabilityFilter == 1) != want {
			t.Errorf(
				"with %q available: selected %t with %d after the filter, want %t", available, got,
				counts.AfterGPUAvailabilityFilter, want,
			)
		}
	}
}
