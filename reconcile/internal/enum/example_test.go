package enum_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/enum"
)

// A decision is compared with a value.
func Example() {
	d := apply.Decision{Verb: enum.VerbCreate, Reason: enum.ReasonMissing}
	fmt.Println(d.Verb == enum.VerbCreate, d.Reason)
	// Output:
	// true Missing
}
