package decide_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
)

// A child that does not exist is created; an object that somebody else has made
// is left alone.
func Example() {
	var plan apply.Plan
	plan.Apply(passtest.Settings("new"))
	plan.Apply(passtest.Settings("foreign"))
	p, err := passtest.Begin(context.Background(), &plan, passtest.Settings("foreign"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	p.ResolveAll()
	for _, c := range p.Children {
		decide.Child(p, c)
		c.Decided()
		fmt.Println(c.ID.Key.Name, c.Result.Verb, c.Result.Reason)
	}
	// Output:
	// new create Missing
	// foreign none NotOwned
}
