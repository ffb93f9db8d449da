package aimservice

import (
	"strings"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
	"github.com/reconcilekit/reconcilekit/naming"
)

const (
	domain = "aim.eai.amd.com/"
	// serviceLabel carries the name of the service on its children.
	serviceLabel = domain + "service"
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
	out := map[string]string{
		managedByLabel:          managedBy,
		serviceLabel:            naming.LabelValue(service.Name),
		domain + "service.name": naming.LabelValue(service.Name),
	}
	for key, value := range service.Labels {
		if strings.HasPrefix(key, domain) || runtimeconfig.PassesOn(config, key) {
			out[key] = value
		}
	}
	for key, value := range own {
		if value != "" {
			out[key] = value
		}
	}
	return out
}
