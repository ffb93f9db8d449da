package external_test

import (
	"context"
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
)

// database is the desired and the observed state of a database.
type database struct{ Owner string }

// server is a database server. In an operator it is a client with a connection.
type server map[string]database

func (s server) Observe(_ context.Context, key string) (database, error) {
	found, ok := s[key]
	if !ok {
		return database{}, external.ErrNotFound
	}
	return found, nil
}

func (s server) Ensure(_ context.Context, key string, spec database) (database, error) {
	s[key] = spec
	return spec, nil
}

func (s server) Remove(_ context.Context, key string) error {
	delete(s, key)
	return nil
}

func (server) UpToDate(spec, observed database) bool { return spec == observed }

// A plan names its databases. The engine records a database on the owner, creates it, repairs it, and removes it when the plan
// no longer names it, or the owner is deleted. The controller declares the kind: controller.New(...).External(databases).
func Example() {
	databases := external.New("Database", server{}, external.Options{})

	var plan reconcile.PlanResult // in PlanResources
	databases.Ensure(&plan, "orders", database{Owner: "shop"})
	for _, child := range plan.Children {
		fmt.Println(child.Object.GetObjectKind().GroupVersionKind().Kind, child.Object.GetName())
	}
	// Output: Database orders
}
