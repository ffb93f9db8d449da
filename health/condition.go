package health

// Condition types that an [Assessor] sets besides `<Component>Ready` and the summary Ready.
const (
	// DependenciesReachable is False while there are Infrastructure or Unknown errors.
	DependenciesReachable = "DependenciesReachable"
	// AuthValid is False while there are Auth errors.
	AuthValid = "AuthValid"
	// ConfigValid is False while there are InvalidSpec or MissingUpstreamDependency errors.
	ConfigValid = "ConfigValid"
)

// Reasons of these conditions and of the summary.
const (
	// reasonReady reports that all components are ready.
	reasonReady = "AllComponentsReady"
	// reasonProgressing reports that components are on their way.
	reasonProgressing = "Progressing"
	// reasonInfrastructure reports that something cannot be reached.
	reasonInfrastructure = "InfrastructureError"
	// reasonProgram reports that the operator's own program has a mistake.
	reasonProgram = "ProgramError"
	// reasonReachable reports that everything can be reached again.
	reasonReachable = "Reachable"
	// reasonAuth reports that permission or credentials are missing.
	reasonAuth = "AuthError"
	// reasonAuthValid reports that permission and credentials are there again.
	reasonAuthValid = "AuthenticationValid"
	// reasonInvalidSpec reports that what is asked for cannot be.
	reasonInvalidSpec = "InvalidSpec"
	// reasonReferenceNotFound reports that something which is referred to does not exist.
	reasonReferenceNotFound = "ReferenceNotFound"
	// reasonConfigValid reports that what is asked for can be, and all that is referred to exists.
	reasonConfigValid = "ConfigurationValid"
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
