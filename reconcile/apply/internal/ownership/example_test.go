package ownership_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
)

// An object that nobody controls and that is not labelled is not ours.
func Example() {
	var plan apply.Plan
	plan.Apply(passtest.Settings("settings"))
	p, err := passtest.Begin(context.Background(), &plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	p.ResolveAll()
	other := passtest.Settings("settings")
	other.UID = "2"
	fmt.Println(ownership.Labelled(other), ownership.MayWrite(p, p.Children[0], other))
	// Output:
	// false false
}
