package declaration

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/health"
)

// Reasons of conditions about mistakes of the program.
const (
	ReasonInvalidPlan     = "InvalidPlan"     // the plan has a nil child, an object twice, an empty name, ...
	reasonUndeclaredKind  = "UndeclaredKind"  // a kind is read or planned that the builder does not declare
	ReasonUndeclaredIndex = "UndeclaredIndex" // a list is selected by a field that no option Index declares
	ReasonMetadataOnly    = "MetadataOnly"    // the content of an object is read of which the cache keeps the metadata alone
	ReasonPartCached      = "PartCached"      // owners are read of which the cache of a process has only those of its shard or selection
	ReasonPanic           = "Panic"           // a phase, or a function of a declaration, panicked
	ReasonUnstablePlan    = "UnstablePlan"    // the plan comes out different in every pass
)

// mistake is an error that only a change of the program mends. Its text names the line to change.
type mistake struct {
	reason string
	err    error
}

// NewMistake returns the error as a mistake of the program, with the reason of its condition.
func NewMistake(reason string, err error) error { return &mistake{reason: reason, err: err} }

// Error is the text of the error.
func (m *mistake) Error() string { return m.err.Error() }

// Unwrap returns the error.
func (m *mistake) Unwrap() error { return m.err }

// HealthCategory names it a mistake of the program.
func (*mistake) HealthCategory() string { return string(health.ProgramError) }

// HealthReason is the reason of the condition.
func (m *mistake) HealthReason() string { return m.reason }

// UndeclaredError is the refusal to read or write a kind that the builder of the controller was not told of: such a read
// would have no watch, and the rights would not allow it. Its text names what to add.
type UndeclaredError struct {
	// Controller is the name of the controller.
	Controller string
	// GVK is the kind.
	GVK schema.GroupVersionKind
	// Declaration is the call of the [Builder] that declares the kind for this use, as Go code.
	Declaration string
}

// Error names the line to add.
func (e *UndeclaredError) Error() string {
	return fmt.Sprintf("%s is not declared: add %s to the builder of controller %q", Print(e.GVK), e.Declaration, e.Controller)
}

// HealthCategory names the refusal a mistake of the program.
func (e *UndeclaredError) HealthCategory() string { return string(health.ProgramError) }

// HealthReason is the reason of the condition.
func (e *UndeclaredError) HealthReason() string { return reasonUndeclaredKind }
