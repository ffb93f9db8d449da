package gate_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/gate"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
)

// Of two children one waits for the other.
func Example() {
	var plan apply.Plan
	plan.Apply(passtest.Settings("database"))
	plan.Apply(passtest.Settings("server"), apply.WaitUntil(false, "the database is ready"))
	p, err := passtest.Begin(context.Background(), &plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	p.ResolveAll()
	for _, c := range p.Children {
		fmt.Printf("%s %t %q\n", c.ID.Key.Name, gate.Holds(p, c), c.Result.WaitsUntil)
	}
	// Output:
	// database false ""
	// server true "the database is ready"
}
