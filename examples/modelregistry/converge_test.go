package main

import (
	"slices"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/catalog"
)

// TestCatalogConverges checks in each mode that the catalog reaches its desired state despite failing requests, restarts
// and edits, while its inputs are created, changed and deleted and the catalog is disabled and enabled. It samples 10
// cases of each mode; RECONCILETEST_CASES=all runs all.
func TestCatalogConverges(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]struct {
		configure func(*catalog.Settings)
		inputs    []client.Object
		change    func(*reconciletest.System)
	}{
		"on plain Kubernetes": {change: func(s *reconciletest.System) { s.CRDPaths = nil }},
		"on OpenShift":        {inputs: []client.Object{administrators()}, change: administratorsChange},
		"of the platform":     {inputs: []client.Object{platform(), administrators()}, change: platformGoes},
		"without a database": {configure: func(s *catalog.Settings) { s.SkipDatabase = true }, change: func(s *reconciletest.System) {
			s.CRDPaths = []string{"config/platform"}
		}},
		"with documents of an earlier version": {change: outdatedDocuments},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := catalogSystem(t, mode.configure, mode.inputs...)
			s.StandIns = append(s.StandIns, reconciletest.DeploymentsAvailable)
			for _, document := range []string{"default-catalog-sources", "model-catalog-sources", "mcp-catalog-sources"} {
				s.Outlives = append(s.Outlives, "ConfigMap default/"+document) // the catalog keeps it when it is disabled
			}
			s.Cases = 10
			if mode.change != nil {
				mode.change(&s)
			}
			reconciletest.Converge(t, s)
		})
	}
}

// administratorsChange changes the administrators in spec B.
func administratorsChange(s *reconciletest.System) {
	change := s.Change
	s.Change = func(o client.Object) {
		change(o)
		if o.GetName() == "auth" {
			o.(*unstructured.Unstructured).Object["spec"] = map[string]any{"adminGroups": []any{"others", "more"}}
		}
	}
}

// platformGoes makes the object of the platform the input that is deleted and recreated.
func platformGoes(s *reconciletest.System) {
	inputs := s.Singleton.Inputs
	s.Singleton.Inputs = slices.Concat(inputs[1:], inputs[:1])
	s.Accepted = append(s.Accepted, reconciletest.Acceptance{
		Check: check.Deletes, About: "422 several times of apply apps/deployments",
		Reason: "a Deployment that rejects a change as forbidden is recreated",
	})
}

// outdatedDocuments adds objects of earlier versions: documents of users with the retired entry, and an object that is no longer
// used. The catalog is not disabled in this mode, because that would leave the documents unchanged. The retired Secret is missing,
// because the operator deletes it by name, whoever created it.
func outdatedDocuments(s *reconciletest.System) {
	for _, name := range []string{"model-catalog-sources", "mcp-catalog-sources"} {
		s.Given = append(s.Given, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{
			"sources.yaml": "catalogs: [{id: default_catalog}, {id: mine}]", "notes": "kept",
		}})
	}
	labels := map[string]string{"app.kubernetes.io/created-by": "model-registry-operator"}
	s.Given = append(s.Given,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "model-catalog-default-sources", Labels: labels}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "default-catalog-sources"}, Data: map[string]string{
			"sources.yaml": "catalogs: []", "more.yaml": "goes",
		}})
	s.Singleton.Off = nil
}
