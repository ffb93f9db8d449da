package intent

// PlanError is a mistake in a plan: whoever wrote the program has to mend it.
type PlanError string

// Error reports what is wrong and what would be right.
func (e PlanError) Error() string { return string(e) }

// HealthCategory names it a mistake of the program, see package health.
func (PlanError) HealthCategory() string { return "ProgramError" }

// HealthReason is the reason of the condition.
func (PlanError) HealthReason() string { return "InvalidPlan" }

// UnfitError reports that the API server cannot read a planned object as one of its
// kind: the plan has a field that the schema does not have, or a value of another type.
type UnfitError struct {
	// Cause is the answer of the API server.
	Cause error
}

// Error has the words of the API server, and what would be right.
func (e *UnfitError) Error() string {
	return e.Cause.Error() + ": the plan does not fit the schema that the API server has of the kind; correct the plan, " +
		"or install the definition that it was made for"
}

// Unwrap returns the answer of the API server.
func (e *UnfitError) Unwrap() error { return e.Cause }

// HealthCategory names it a mistake of the program, see package health.
func (*UnfitError) HealthCategory() string { return "ProgramError" }

// HealthReason is the reason of the condition.
func (*UnfitError) HealthReason() string { return "InvalidPlan" }
