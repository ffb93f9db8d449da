package check_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

// A system accepts a finding with the check and a reason.
func Example() {
	accepted := reconciletest.Acceptance{Check: check.State, About: "spec.replicas", Reason: "an autoscaler sets the replicas"}
	fmt.Printf("%s of %s: %s\n", accepted.Check, accepted.About, accepted.Reason)
	// Output: state of spec.replicas: an autoscaler sets the replicas
}
