package reconciletest

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/search"
)

// NewCluster returns the fake or real cluster of a system.
func NewCluster(ctx context.Context, described System, namespace string) (*cluster.Cluster, error) {
	described.Setup = func(manager.Manager) error { return nil }
	described.Owners = []client.Object{nil}
	system, err := description.Prepare(described)
	if err != nil {
		return nil, err
	}
	return cluster.New(ctx, system, namespace)
}

// ExploreUntil is like Explore, but ends with the first finding of a check.
func ExploreUntil(ctx context.Context, system System, check finding.Check) (*Exploration, error) {
	return search.ExploreUntil(ctx, system, func(f Finding) bool { return f.Check == check })
}
