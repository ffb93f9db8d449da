package aimservice

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// What the tests of the facts see of the package.
var (
	ContainerEnv       = containerEnv
	ContainerResources = containerResources
	Replicas           = replicas
	RuntimeStatus      = runtimeStatus
	ArtifactMount      = artifactMount
	RoutingOf          = routingOf
)

// NewModel builds the model that a service needs.
var NewModel = ModelFetchResult.newModel

// DerivedTemplateName is the name of the template that a service makes of another one.
var DerivedTemplateName = derivedTemplateName

// PlanRoute builds the route of a service as a pass does.
func PlanRoute(service *aimv1alpha1.AIMService, config *aimv1alpha1.AIMRuntimeConfigCommon) (*gatewayv1.HTTPRoute, error) {
	name, err := GenerateInferenceServiceName(service.Name, service.Namespace)
	if err != nil {
		return nil, err
	}
	return httpRoute(service, config, name)
}

// Explain reports why a selection selected nothing.
var Explain = explain

// Selector is the selection of a template.
var Selector = selector

// Declare declares the controller with other phases.
var Declare = declare
