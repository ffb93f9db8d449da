package aimservice_test

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// TestNewModelNamesTheService checks that a model created for a service has the service name in a label, as all its
// children do.
func TestNewModelNamesTheService(t *testing.T) {
	t.Parallel()
	for name, models := range map[string]aimservice.ModelFetchResult{
		"by image": {ImageURI: "registry.example/model:1"},
		"custom":   {CustomSpec: &aimv1alpha1.AIMServiceModelCustom{BaseImage: "registry.example/base:1"}},
	} {
		model := aimservice.NewModel(models, serviceOf("ns", "chat", ""))
		if model == nil {
			t.Fatalf("%s: got no model", name)
		}
		if got := model.Labels["aim.eai.amd.com/service.name"]; got != "chat" {
			t.Errorf("%s: got label aim.eai.amd.com/service.name=%q, want chat", name, got)
		}
	}
}
