package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

const (
	// reasonShardWaits is the reason of the event for an owner that another shard does not give back.
	reasonShardWaits = "ShardWaits"

	shardLooks    = 15 * time.Second // how often the claims are looked at
	shardPatience = 30 * time.Second // how long a hand-over may take: a process gives an owner back at once, or after its pass
)

// shardWaits tells of owners of this process's shard that another shard has claimed and does not give back, as none of its processes runs:
// nobody works on them, and no status could say so.
type shardWaits struct {
	shardPart

	annotation string
	list       func(ctx context.Context) (client.ObjectList, error)
	recorder   pipeline.EventRecorder
	clock      clock.PassiveClock

	since map[types.UID]*shardWait
	count atomic.Int64
}

// shardWait is the wait of one owner.
type shardWait struct {
	holder string
	since  time.Time
	told   bool
}

var _ manager.LeaderElectionRunnable = (*shardWaits)(nil)

// shard adds what looks after the claims of the shard.
func (b *Builder[T, F, O]) shard(mgr manager.Manager, controller ctrlcontroller.Controller, reads *tracked.Reads, options Options) error {
	return errors.Join(b.waitForShard(mgr, reads, options), b.returnToShards(mgr, controller))
}

// waitForShard adds what tells of the owners that wait for another shard.
func (b *Builder[T, F, O]) waitForShard(mgr manager.Manager, reads *tracked.Reads, options Options) error {
	if options.Shard == nil {
		return nil
	}
	w := &shardWaits{
		shardPart: options.Shard.part(), annotation: shardAnnotationPrefix + b.name, recorder: options.Recorder, clock: options.Clock,
		since: map[types.UID]*shardWait{},
		list: func(ctx context.Context) (client.ObjectList, error) {
			list, err := reads.EmptyList(reads.Kinds[0])
			if err != nil {
				return nil, err
			}
			return list, reads.Cache.List(ctx, list, client.UnsafeDisableDeepCopy)
		},
	}
	if err := observe.RegisterShardWaits(metrics.Registry, b.name, w.count.Load); err != nil {
		return fmt.Errorf("controller %q: register metrics: %w", b.name, err)
	}
	return mgr.Add(w)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: a process that waits to lead works on nothing.
func (*shardWaits) NeedLeaderElection() bool { return true }

// Start looks at the claims until the end.
func (w *shardWaits) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := w.look(ctx); err != nil {
			log.FromContext(ctx).Error(err, "list the owners that wait for another shard")
		}
	}, shardLooks)
	return nil
}

// look counts the owners that wait, and tells of each once.
func (w *shardWaits) look(ctx context.Context) error {
	list, err := w.list(ctx)
	if err != nil {
		return err
	}
	now, before := w.clock.Now(), w.since
	w.since = map[types.UID]*shardWait{}
	told := map[string]int{} // by the shard that has them
	err = meta.EachListItem(list, func(item runtime.Object) error {
		owner, ok := item.(client.Object)
		if !ok {
			return nil
		}
		holder := owner.GetAnnotations()[w.annotation]
		if holder == "" || holder == w.name || w.of(owner) != w.name {
			return nil
		}
		waits := before[owner.GetUID()]
		if waits == nil || waits.holder != holder {
			waits = &shardWait{holder: holder, since: now}
		}
		w.since[owner.GetUID()] = waits
		if !waits.told && now.Sub(waits.since) >= shardPatience {
			waits.told = true
			told[holder]++
			w.recorder.Event(owner, corev1.EventTypeWarning, reasonShardWaits, fmt.Sprintf(
				"shard %q has claimed it and does not give it back to shard %q: run a process of shard %[1]q, or remove the annotation %[3]s",
				holder, w.name, w.annotation))
		}
		return nil
	})
	waiting := 0
	for _, waits := range w.since {
		if waits.told {
			waiting++
		}
	}
	w.count.Store(int64(waiting))
	if len(told) > 0 {
		log.FromContext(ctx).Info("nobody works on owners that a shard has claimed of which no process seems to run", "shard", w.name,
			"claimed by", strings.Join(slices.Sorted(maps.Keys(told)), ", "), "owners that wait", waiting)
	}
	return err
}
