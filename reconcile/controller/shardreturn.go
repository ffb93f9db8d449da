package controller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// Claims that the process does not watch are looked for as it starts to lead, and again as long as some are found. After that, what the last
// requests of a predecessor have left is found by and by.
const (
	returnsSoon = 15 * time.Second
	returnsLate = 10 * time.Minute
)

// shardReturns looks for owners of other shards that this one has claimed and does not watch, such as those of its range before the number of
// shards has changed. Each gets a pass, which gives it back: so no pass of it runs meanwhile.
type shardReturns struct {
	*shardReader

	informers *shards.Informers
	found     chan event.GenericEvent
}

var _ manager.LeaderElectionRunnable = (*shardReturns)(nil)

// returnToShards adds what gives back owners that the process does not watch.
func (b *Builder[T, F, O]) returnToShards(mgr manager.Manager, controller ctrlcontroller.Controller) error {
	if b.sharded == nil || b.informers == nil {
		return nil
	}
	r := &shardReturns{shardReader: b.sharded, informers: b.informers, found: make(chan event.GenericEvent)}
	if err := controller.Watch(source.Channel(r.found, &handler.EnqueueRequestForObject{})); err != nil {
		return err
	}
	return mgr.Add(r)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: the process that leads before this one gives back what it works on.
func (*shardReturns) NeedLeaderElection() bool { return true }

// Start looks for claims until the end.
func (r *shardReturns) Start(ctx context.Context) error {
	pause := returnsSoon
	for {
		found, err := r.look(ctx)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "look for owners of other shards that this one has claimed")
		}
		if found > 0 {
			log.FromContext(ctx).Info("owners are given back that have come to other shards", "shard", r.name, "owners", found)
		}
		if pause = min(2*pause, returnsLate); found > 0 || err != nil { //nolint:mnd // twice as long each time
			pause = returnsSoon
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// look enqueues each owner of another shard that this one has claimed.
func (r *shardReturns) look(ctx context.Context) (found int, err error) {
	err = r.informers.Others(ctx, func(owner client.Object) bool {
		if r.of(owner) == r.name {
			return false // the API server does not select, and the informer has them all
		}
		if owner.GetAnnotations()[r.annotation] != r.name {
			return true
		}
		found++
		r.claimed.Store(client.ObjectKeyFromObject(owner), unconfirmed)
		select {
		case r.found <- event.GenericEvent{Object: owner}:
		case <-ctx.Done():
		}
		return true
	})
	return found, err
}
