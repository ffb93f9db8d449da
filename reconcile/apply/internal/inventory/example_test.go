package inventory_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/passtest"
)

// The inventory of a plan names the kinds of the children. They are all in the
// namespace of the owner, so that neither namespace nor finalizer is needed.
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
	wanted := inventory.Planned(p)
	fmt.Println(wanted.Kinds, wanted.Namespaces, wanted.Finalizer)
	// Output:
	// [ConfigMap] [] false
}
