package health

import "github.com/reconcilekit/reconcilekit/conditions"

// Condition types that an [Assessor] sets besides `<Component>Ready`.
const (
	// SummaryReady is the summary of all.
	SummaryReady = conditions.Ready
	// DependenciesReachable is False while there are Infrastructure or Unknown errors.
	DependenciesReachable = "DependenciesReachable"
	// AuthValid is False while there are Auth errors.
	AuthValid = "AuthValid"
	// ConfigValid is False while there are InvalidSpec or MissingUpstreamDependency errors.
	ConfigValid = "ConfigValid"
)

// Reasons of these conditions.
const (
	// ReasonReady reports that all components are ready.
	ReasonReady = "AllComponentsReady"
	// ReasonProgressing reports that components are on their way.
	ReasonProgressing = "Progressing"
	// ReasonInfrastructure reports that something cannot be reached.
	ReasonInfrastructure = "InfrastructureError"
	// ReasonProgram reports that the operator's own program has a mistake.
	ReasonProgram = "ProgramError"
	// ReasonReachable reports that it can be reached again.
	ReasonReachable = "Reachable"
	// ReasonAuth reports that permission or credentials are missing.
	ReasonAuth = "AuthError"
	// ReasonAuthValid reports that they are there again.
	ReasonAuthValid = "AuthenticationValid"
	// ReasonInvalidSpec reports that what is asked for cannot be.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonReferenceNotFound reports that something which is referred to does not exist.
	ReasonReferenceNotFound = "ReferenceNotFound"
	// ReasonConfigValid reports that neither is the case any more.
	ReasonConfigValid = "ConfigurationValid"
)

const (
	textReady          = "All components are ready"
	textProgressing    = "Waiting for components to become ready"
	textInfrastructure = "Infrastructure error - waiting for retry"
	textUnreachable    = "Cannot reach dependencies"
	textReachable      = "All dependencies are reachable"
	textProgram        = "Mistake in the program of the operator"
	textAuth           = "Authentication or authorization failure"
	textAuthValid      = "Authentication and authorization successful"
	textInvalidSpec    = "Configuration validation failed"
	textReference      = "Referenced resource not found"
	textConfigValid    = "Configuration is valid"
)
