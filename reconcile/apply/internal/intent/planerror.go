package intent

// PlanError is a mistake in a plan. The author of the program must fix it.
type PlanError string

// Error returns the mistake and the accepted value.
func (e PlanError) Error() string { return string(e) }

// HealthCategory classifies the error as a program error, see package health.
func (PlanError) HealthCategory() string { return "ProgramError" }

// HealthReason is the reason of the condition.
func (PlanError) HealthReason() string { return "InvalidPlan" }

// UnfitError reports that the API server cannot decode a planned object into its kind: the plan has an unknown field, or a value of
// another type.
type UnfitError struct {
	// Cause is the error of the API server.
	Cause error
}

// Error returns the message of the API server and a remedy.
func (e *UnfitError) Error() string {
	return e.Cause.Error() + ": the plan does not fit the schema that the API server has of the kind; correct the plan, " +
		"or install the definition that it was made for"
}

// Unwrap returns the error of the API server.
func (e *UnfitError) Unwrap() error { return e.Cause }

// HealthCategory classifies the error as a program error, see package health.
func (*UnfitError) HealthCategory() string { return "ProgramError" }

// HealthReason is the reason of the condition.
func (*UnfitError) HealthReason() string { return "InvalidPlan" }

// DuplicateError reports that a list of a planned object has two items with one key. Such lists usually come from the spec of the owner.
type DuplicateError struct {
	// Cause is the error of the API server.
	Cause error
}

// Error returns the message of the API server and a remedy.
func (e *DuplicateError) Error() string {
	return e.Cause.Error() + ": a list has two items with the same key; remove one of them where the list comes from, the spec or the program"
}

// Unwrap returns the error of the API server.
func (e *DuplicateError) Unwrap() error { return e.Cause }

// HealthCategory classifies the error as one of the spec, see package health.
func (*DuplicateError) HealthCategory() string { return "InvalidSpec" }

// HealthReason is the reason of the condition.
func (*DuplicateError) HealthReason() string { return reasonDuplicateKeys }

// reasonDuplicateKeys: a list of a planned object has two items with the same key.
const reasonDuplicateKeys = "DuplicateKeys"
