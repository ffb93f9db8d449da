package aimservice

import (
	"maps"
	"slices"

	"github.com/reconcilekit/reconcilekit/naming"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

const (
	domain = "aim.eai.amd.com/"
	// serviceLabel and serviceNameLabel carry the name of the service on its
	// children, also on those that several services share: of the first one.
	serviceLabel     = domain + "service"
	serviceNameLabel = domain + "service.name"
	// originLabel marks models that a service has made.
	originLabel = domain + "origin"
	// managedByLabel is on every child.
	managedByLabel = "app.kubernetes.io/managed-by"
	componentLabel = "app.kubernetes.io/component"
	managedBy      = "aim-engine"
	// PauseAnnotation pauses a service when its value is "true".
	PauseAnnotation = domain + "reconciliation-paused"
	// CleanupFinalizer keeps a service until its caches are cleaned up.
	CleanupFinalizer = domain + "template-cache-cleanup"
)

// childLabels are the labels of a child: its own, then those of the service that
// are passed on, then the ones that every child has; the first wins. Labels of the
// product's domain are always passed on, others when the runtime config says so.
func childLabels(service *aimv1alpha1.AIMService, config *aimv1alpha1.AIMRuntimeConfigCommon, own map[string]string) map[string]string {
	name := serviceLabelValue(service)
	out := map[string]string{managedByLabel: managedBy, serviceLabel: name, serviceNameLabel: name}
	maps.Copy(out, naming.MatchingLabels(service.Labels, slices.Concat(runtimeconfig.PropagatedLabels(config), []string{domain + "*"})...))
	for key, value := range own {
		if value != "" {
			out[key] = value
		}
	}
	return out
}

// childLabels are the labels of a child of the service.
func (obs ServiceObservation) childLabels(own map[string]string) map[string]string {
	return childLabels(obs.service, obs.runtimeConfig.Merged, own)
}

// serviceLabelValue is the name of a service as its children carry it.
func serviceLabelValue(service *aimv1alpha1.AIMService) string {
	return naming.LabelValue(service.Name)
}
