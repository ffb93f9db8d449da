package declaration

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/health"
)

// Reasons of conditions about bugs in the program.
const (
	ReasonInvalidPlan     = "InvalidPlan"     // the plan has a nil child, an object twice, an empty name, ...
	reasonUndeclaredKind  = "UndeclaredKind"  // the program reads or plans a kind that the builder does not declare
	ReasonUndeclaredIndex = "UndeclaredIndex" // a list selects by a field that no option Index declares
	ReasonMetadataOnly    = "MetadataOnly"    // the program reads the content of an object whose metadata alone is cached
	ReasonPartCached      = "PartCached"      // the program reads owners, and the cache of a process has only those of its shard or selection
	ReasonPanic           = "Panic"           // a phase, or a function of a declaration, panicked
	ReasonUnstablePlan    = "UnstablePlan"    // the plan differs in every pass
)

// mistake is an error that only a change of the program fixes. Its text names the line to change.
type mistake struct {
	reason string
	err    error
}

// NewMistake returns err as a mistake of the program, with the reason of its condition.
func NewMistake(reason string, err error) error { return &mistake{reason: reason, err: err} }

// Error returns the text of the error.
func (m *mistake) Error() string { return m.err.Error() }

// Unwrap returns the error.
func (m *mistake) Unwrap() error { return m.err }

// HealthCategory returns ProgramError.
func (*mistake) HealthCategory() string { return string(health.ProgramError) }

// HealthReason returns the reason of the condition.
func (m *mistake) HealthReason() string { return m.reason }

// UndeclaredError is the error of a read or write of a kind that the builder of the controller does not declare: such a read
// would have no watch, and the permissions would not cover it. Its text names the line to add.
type UndeclaredError struct {
	// Controller is the name of the controller.
	Controller string
	// GVK is the kind.
	GVK schema.GroupVersionKind
	// Declaration is the call of the [Builder] that declares the kind for this use, as Go code.
	Declaration string
}

// Error returns a text that names the line to add.
func (e *UndeclaredError) Error() string {
	return fmt.Sprintf("%s is not declared: add %s to the builder of controller %q", Print(e.GVK), e.Declaration, e.Controller)
}

// HealthCategory returns ProgramError.
func (e *UndeclaredError) HealthCategory() string { return string(health.ProgramError) }

// HealthReason returns the reason of the condition.
func (e *UndeclaredError) HealthReason() string { return reasonUndeclaredKind }
