package outside_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/outside"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
)

// A pass observes kinds that its controller declares, and no others.
func ExampleReads() {
	tracker := tracking.NewTracker()
	owner := types.NamespacedName{Namespace: "shop", Name: "web"}
	reads, err := outside.New(tracker, external.Config{
		FieldManager: "shop", Domain: "example.com", Finalizer: "example.com/shop",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	reads.Begin(owner)
	session := tracker.Begin(owner, tracking.ScopeRead)
	defer session.End()
	into := &external.Object{}
	into.Kind = "Database"
	fmt.Println(reads.Get(context.Background(), session, types.NamespacedName{Name: "orders"}, into))
	fmt.Println(len(reads.Open()))
	// Output:
	// external kind Database is not declared: add External(database) to the builder of the controller
	// 0
}
