package reconciletest

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// WorldClient is the client of the test in the world of a system, fake or real.
func WorldClient(ctx context.Context, described System, namespace string) (client.WithWatch, error) {
	described.Setup = func(manager.Manager) error { return nil }
	described.Owners = []client.Object{nil}
	system, err := prepare(described)
	if err != nil {
		return nil, err
	}
	w, err := newWorld(ctx, system, namespace)
	if err != nil {
		return nil, err
	}
	return w.client, nil
}

// ExploreUntil is Explore that ends with the first finding of a check.
func ExploreUntil(ctx context.Context, system System, check Check) (*Exploration, error) {
	return exploreUntil(ctx, system, func(f Finding) bool { return f.Check == check })
}
