package write_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
)

// What was decided is sent, and the result of each child says what happened.
func Example() {
	var plan apply.Plan
	plan.Apply(passtest.Settings("new"))
	p, err := passtest.Begin(context.Background(), &plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	p.ResolveAll()
	for _, c := range p.Children {
		decide.Child(p, c)
		c.Decided()
	}
	write.Children(p)
	for _, c := range p.Children {
		fmt.Println(c.ID.Key.Name, c.Result.Outcome, c.Result.Err)
	}
	// Output:
	// new Created <nil>
}
