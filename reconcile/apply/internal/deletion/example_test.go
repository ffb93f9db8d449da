package deletion_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/deletion"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
)

// An object that this owner has not made is not deleted by its name.
func Example() {
	var plan apply.Plan
	plan.Delete(passtest.Settings("former"))
	plan.Delete(passtest.Settings("gone"))
	p, err := passtest.Begin(context.Background(), &plan, passtest.Settings("former"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	p.ResolveAll()
	deletion.Decide(p)
	for _, d := range p.Deletions {
		fmt.Println(d.ID.Key.Name, d.Result.Verb, d.Result.Reason)
	}
	// Output:
	// former none NotOwned
	// gone none Missing
}
