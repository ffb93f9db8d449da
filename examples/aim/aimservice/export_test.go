package aimservice

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// The package's functions that the vector tests call.
var (
	ContainerEnv       = containerEnv
	ContainerResources = containerResources
	Replicas           = replicas
	RuntimeStatus      = runtimeStatus
	ArtifactMount      = artifactMount
	RoutingOf          = routingOf
)

// NewModel builds the model that a service creates.
var NewModel = ModelFetchResult.newModel

// DerivedTemplateName returns the name of the template that a service derives from another one.
var DerivedTemplateName = derivedTemplateName

// PlanRoute builds the planned route of a service.
func PlanRoute(service *aimv1alpha1.AIMService, config *aimv1alpha1.AIMRuntimeConfigCommon) (*gatewayv1.HTTPRoute, error) {
	name, err := GenerateInferenceServiceName(service.Name, service.Namespace)
	if err != nil {
		return nil, err
	}
	return httpRoute(service, config, name)
}

// Explain reports why a selection is empty.
var Explain = explain

// Selector selects a template.
var Selector = selector

// Declare declares the controller with other phases.
var Declare = declare
