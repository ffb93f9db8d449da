package aimservice

// What the tests of the facts see of the package.
var (
	DerivedTemplateName = derivedTemplateName
	ContainerEnv        = containerEnv
	ContainerResources  = containerResources
	Replicas            = replicas
	RuntimeStatus       = runtimeStatus
	ArtifactMount       = artifactMount
	RoutingOf           = routingOf
)

// NewModel builds the model that a service needs.
var NewModel = ModelFetchResult.newModel

// PlanRoute builds the route of a service as a pass does.
var PlanRoute = httpRoute

// NamesOf derives the names of a service's children.
var NamesOf = namesOf

// Explain reports why a selection selected nothing.
var Explain = explain

// Selector is the selection of a template.
var Selector = selector

// Declare declares the controller with other phases.
var Declare = declare

// InferenceService is the name of the InferenceService.
func (n childNames) InferenceService() string { return n.inferenceService }

// Route is the name of the route.
func (n childNames) Route() string { return n.route }
