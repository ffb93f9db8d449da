package health

// Condition types that an [Assessor] sets in addition to `<Component>Ready` and the summary Ready.
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
	// reasonProgressing reports that components are progressing.
	reasonProgressing = "Progressing"
	// reasonInfrastructure reports that a dependency cannot be reached.
	reasonInfrastructure = "InfrastructureError"
	// reasonProgram reports that the operator has a defect.
	reasonProgram = "ProgramError"
	// reasonReachable reports that all dependencies can be reached again.
	reasonReachable = "Reachable"
	// reasonAuth reports that permissions or credentials are missing.
	reasonAuth = "AuthError"
	// reasonAuthValid reports that permissions and credentials are valid again.
	reasonAuthValid = "AuthenticationValid"
	// reasonInvalidSpec reports that the spec is invalid.
	reasonInvalidSpec = "InvalidSpec"
	// reasonReferenceNotFound reports that a referenced object does not exist.
	reasonReferenceNotFound = "ReferenceNotFound"
	// reasonConfigValid reports that the spec is valid and all referenced objects exist.
	reasonConfigValid = "ConfigurationValid"
)

const (
	textReady          = "All components are ready"
	textProgressing    = "Waiting for components to become ready"
	textInfrastructure = "Infrastructure error - waiting for retry"
	textUnreachable    = "Cannot reach dependencies"
	textReachable      = "All dependencies are reachable"
	textProgram        = "Error in the operator's program"
	textAuth           = "Authentication or authorization failure"
	textAuthValid      = "Authentication and authorization successful"
	textInvalidSpec    = "Configuration validation failed"
	textReference      = "Referenced resource not found"
	textConfigValid    = "Configuration is valid"
)
