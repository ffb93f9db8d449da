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
	// ReasonReady says that all components are ready.
	ReasonReady = "AllComponentsReady"
	// ReasonProgressing says that components are on their way.
	ReasonProgressing = "Progressing"
	// ReasonInfrastructure says that something cannot be reached.
	ReasonInfrastructure = "InfrastructureError"
	// ReasonProgram says that the operator's own program has a mistake.
	ReasonProgram = "ProgramError"
	// ReasonReachable says that it can be reached again.
	ReasonReachable = "Reachable"
	// ReasonAuth says that permission or credentials are missing.
	ReasonAuth = "AuthError"
	// ReasonAuthValid says that they are there again.
	ReasonAuthValid = "AuthenticationValid"
	// ReasonInvalidSpec says that what is asked for cannot be.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonReferenceNotFound says that something which is referred to does not exist.
	ReasonReferenceNotFound = "ReferenceNotFound"
	// ReasonConfigValid says that neither is the case any more.
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
