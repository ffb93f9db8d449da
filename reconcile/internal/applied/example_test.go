package applied_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/applied"
)

// A field that another manager owns is a conflict, which no retry solves.
func Example() {
	err := &apply.ContestedError{Kind: "ConfigMap", Name: "web"}
	found := health.Categorize(applied.Categorize(err))
	fmt.Println(found.Category, found.Reason, applied.Settled(err))
	// Output:
	// Conflict FieldsContested true
}
