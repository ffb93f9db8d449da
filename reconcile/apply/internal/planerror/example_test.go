package planerror_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/planerror"
)

// The error names itself a mistake of the program.
func Example() {
	err := planerror.Error("child: planned twice in one plan")
	fmt.Println(err, err.HealthCategory(), err.HealthReason())
	// Output:
	// child: planned twice in one plan ProgramError InvalidPlan
}
