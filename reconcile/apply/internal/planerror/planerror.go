package planerror

// Error is a mistake in a plan: whoever wrote the program has to mend it.
type Error string

// Error reports what is wrong and what would be right.
func (e Error) Error() string { return string(e) }

// HealthCategory names it a mistake of the program, see package health.
func (Error) HealthCategory() string { return "ProgramError" }

// HealthReason is the reason of the condition.
func (Error) HealthReason() string { return "InvalidPlan" }
