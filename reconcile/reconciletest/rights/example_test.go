package rights_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
)

// The first apply of each kind is refused.
func ExampleRefusedOnce() {
	refuse := rights.RefusedOnce()
	apply := requests.Request{Verb: "apply", Resource: "configmaps", Name: "page"}
	for range 2 {
		fmt.Println(refuse(apply) != nil)
	}
	// Output:
	// true
	// false
}
