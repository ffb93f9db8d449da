package main

import (
	"slices"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// row is a watch of the product's page: the kind, the controller it enqueues, and the source line.
type row struct {
	kind       string // kind of the product's watch, and whether it is For, Owns or Watches
	source     string
	scope      string // scope in which the product watches it; empty: both
	controller string // controller of this operator that it enqueues
	gvk        string
}

// rows returns the 17 watches of the product's page. A For or Owns of the product may be a group member or a child here.
func rows() []row {
	const (
		deployment     = "apps/v1/Deployment"
		monitor        = "monitoring.coreos.com/v1/ServiceMonitor"
		predictors     = "serving.kserve.io/v1alpha1/Predictor"
		runtime        = "serving.kserve.io/v1alpha1/ServingRuntime"
		clusterRuntime = "serving.kserve.io/v1alpha1/ClusterServingRuntime"
		inference      = "serving.kserve.io/v1beta1/InferenceService"
	)
	const (
		runtimes = "runtimes"
		service  = "service"
	)
	return []row{
		{"For Namespace", "service_controller.go:476", allOfCluster, service, "/v1/Namespace"},
		{"For Deployment", "service_controller.go:449", oneNamespace, service, deployment},
		{"For Predictor", "predictor_controller.go:594", "", "predictor", predictors},
		{"For ServingRuntime", "servingruntime_controller.go:607", "", runtimes, runtime},
		{"Owns Service", "service_controller.go:433", "", service, "/v1/Service"},
		{"Owns Deployment", "servingruntime_controller.go:608", "", runtimes, deployment},
		{"Watches ConfigMap", "servingruntime_controller.go:610", "", runtimes, "/v1/ConfigMap"},
		{"Watches ConfigMap", "service_controller.go:454", oneNamespace, service, "/v1/ConfigMap"},
		{"Watches ConfigMap", "service_controller.go:477", allOfCluster, service, "/v1/ConfigMap"},
		{"Watches Namespace", "servingruntime_controller.go:626", allOfCluster, runtimes, "/v1/Namespace"},
		{"Watches Secret", "servingruntime_controller.go:650", "", runtimes, "/v1/Secret"},
		{"Watches ServiceMonitor", "service_controller.go:499", allOfCluster, service, monitor},
		{"Watches ServiceMonitor", "service_controller.go:465", oneNamespace, service, monitor},
		{"Watches ClusterServingRuntime", "servingruntime_controller.go:643", "", runtimes, clusterRuntime},
		{"Watches Predictor", "servingruntime_controller.go:619", "", runtimes, predictors},
		{"Watches InferenceService", "servingruntime_controller.go:633", "", runtimes, inference},
		{"Watches InferenceService", "predictor_controller.go:602", "", "inferenceservice", inference},
	}
}

// TestRows checks that for each watch of the product's page, in the same scope, the page of this operator has one that
// enqueues the corresponding controller.
func TestRows(t *testing.T) {
	t.Parallel()
	if len(rows()) != 17 {
		t.Fatalf("%d rows, the page has 17", len(rows()))
	}
	for scope, variables := range map[string]map[string]string{
		allOfCluster: nil,
		oneNamespace: {"NAMESPACE_SCOPE": "true", "ENABLE_CSR_WATCH": "true"},
	} {
		page, err := modelmesh(lookup(variables)).Page()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows() {
			if r.scope != "" && r.scope != scope {
				continue
			}
			if !triggers(page, r.controller, r.gvk) {
				t.Errorf("%s scope: %s (%s) is not covered: %s does not trigger %s", scope, r.kind, r.source, r.gvk, r.controller)
			}
		}
	}
}

// triggers returns true if the page says that objects of the kind enqueue the controller.
func triggers(page dataflow.Page, name, gvk string) bool {
	return slices.ContainsFunc(page.Controllers, func(d dataflow.Description) bool {
		return d.Controller == name && slices.ContainsFunc(d.Watches, func(w dataflow.Watch) bool { return w.GVK == gvk })
	})
}
