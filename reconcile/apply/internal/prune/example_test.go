package prune_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/prune"
)

// A plan that may be incomplete prunes nothing.
func Example() {
	plan := apply.Plan{PruneBlocked: fmt.Errorf("a read failed")}
	p, err := passtest.Begin(context.Background(), &plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	p.ResolveAll()
	pr := &prune.Prune{Pass: p}
	pr.Decide()
	fmt.Println(p.Result.PruneBlocked, len(pr.Surplus))
	// Output:
	// prune blocked: the plan may be incomplete: a read failed 0
}
