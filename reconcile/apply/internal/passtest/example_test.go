package passtest_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
)

func Example() {
	var plan apply.Plan
	plan.Apply(passtest.Settings("settings"))
	p, err := passtest.Begin(context.Background(), &plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	fmt.Println(p.Owner.GetName(), len(p.Plan.Children))
	// Output: shop 1
}
