package shardclaims

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

// returns looks for owners of other shards that this one has claimed and does not watch, such as those of its range before the number of
// shards has changed. Each gets a pass, which gives it back: so no pass of it runs meanwhile.
type returns struct {
	*Reader

	informers *shards.Informers
	found     chan event.GenericEvent
}

var _ manager.LeaderElectionRunnable = (*returns)(nil)

// GiveBack adds what gives back owners that the process does not watch. Without informers of a part of the owners there are none.
func (r *Reader) GiveBack(mgr manager.Manager, controller ctrlcontroller.Controller, informers *shards.Informers) error {
	if informers == nil {
		return nil
	}
	back := &returns{Reader: r, informers: informers, found: make(chan event.GenericEvent)}
	if err := controller.Watch(source.Channel(back.found, &handler.EnqueueRequestForObject{})); err != nil {
		return err
	}
	return mgr.Add(back)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: the process that leads before this one gives back what it works on.
func (*returns) NeedLeaderElection() bool { return true }

// Start looks for claims until the end.
func (r *returns) Start(ctx context.Context) error {
	pause := returnsSoon
	for {
		found, err := r.look(ctx)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "look for owners of other shards that this one has claimed")
		}
		if found > 0 {
			log.FromContext(ctx).Info("owners are given back that have come to other shards", "shard", r.Name, "owners", found)
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
func (r *returns) look(ctx context.Context) (found int, err error) {
	err = r.informers.Others(ctx, func(owner client.Object) bool {
		if r.Of(owner) == r.Name {
			return false // the API server does not select, and the informer has them all
		}
		if owner.GetAnnotations()[r.Annotation] != r.Name {
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
