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

// A process looks for unwatched claims when it starts to lead, and repeats while it finds some. After that, growing intervals are
// enough for claims of a predecessor's last requests.
const (
	returnsSoon = 15 * time.Second
	returnsLate = 10 * time.Minute
)

// returns finds owners of other shards that this shard has claimed but does not watch, such as owners of its range under a former number of
// shards. It enqueues each; the pass releases the owner, so no other pass of it runs meanwhile.
type returns struct {
	*Reader

	informers *shards.Informers
	found     chan event.GenericEvent
}

var _ manager.LeaderElectionRunnable = (*returns)(nil)

// GiveBack adds the runnable that releases owners that the process does not watch. It adds none if the informers watch all owners.
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

// NeedLeaderElection implements manager.LeaderElectionRunnable: a previous leader still releases its own owners.
func (*returns) NeedLeaderElection() bool { return true }

// Start looks for claims until the context ends.
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

// look enqueues each owner of another shard that this shard has claimed.
func (r *returns) look(ctx context.Context) (found int, err error) {
	err = r.informers.Others(ctx, func(owner client.Object) bool {
		if r.Of(owner) == r.Name {
			return false // the API server does not select, and the informer has all owners
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
