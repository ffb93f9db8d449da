package shardclaims

import (
	"context"
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
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

const (
	// reasonWaits is the reason of the event for an owner that another shard does not release.
	reasonWaits = "ShardWaits"

	looks    = 15 * time.Second // the interval between two checks of the claims
	patience = 30 * time.Second // the time allowed for a move: a process releases an owner at once, or after its pass
)

// waits reports owners of this process's shard that another shard has claimed and does not release, because that shard has no process. No
// process reconciles these owners, so their status cannot show the cause.
type waits struct {
	shards.Part

	annotation string
	list       func(ctx context.Context) (client.ObjectList, error)
	recorder   events.EventRecorder
	clock      clock.PassiveClock

	since map[types.UID]*ownerWait
	count atomic.Int64
}

// ownerWait is the wait of one owner.
type ownerWait struct {
	holder string
	since  time.Time
	told   bool
}

var _ manager.LeaderElectionRunnable = (*waits)(nil)

// TellOfWaits adds the runnable that reports owners that wait for another shard.
func (r *Reader) TellOfWaits(mgr manager.Manager, reads *tracked.Reads, recorder events.EventRecorder, now clock.PassiveClock) error {
	w := &waits{
		Part: r.Part, annotation: r.Annotation, recorder: recorder, clock: now, since: map[types.UID]*ownerWait{},
		list: func(ctx context.Context) (client.ObjectList, error) {
			list, err := reads.EmptyList(reads.Kinds[0])
			if err != nil {
				return nil, err
			}
			return list, reads.Cache.List(ctx, list, client.UnsafeDisableDeepCopy)
		},
	}
	if err := observe.RegisterShardWaits(metrics.Registry, reads.Controller, w.count.Load); err != nil {
		return fmt.Errorf("controller %q: register metrics: %w", reads.Controller, err)
	}
	return mgr.Add(w)
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: a standby reconciles no owner.
func (*waits) NeedLeaderElection() bool { return true }

// Start checks the claims until the context ends.
func (w *waits) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := w.look(ctx); err != nil {
			log.FromContext(ctx).Error(err, "list the owners that wait for another shard")
		}
	}, looks)
	return nil
}

// look counts the waiting owners, and reports each once.
func (w *waits) look(ctx context.Context) error {
	list, err := w.list(ctx)
	if err != nil {
		return err
	}
	now, before := w.clock.Now(), w.since
	w.since = map[types.UID]*ownerWait{}
	told := map[string]int{} // by the shard that claims them
	err = meta.EachListItem(list, func(item runtime.Object) error {
		owner, ok := item.(client.Object)
		if !ok {
			return nil
		}
		holder := owner.GetAnnotations()[w.annotation]
		if holder == "" || holder == w.Name || w.Of(owner) != w.Name {
			return nil
		}
		waits := before[owner.GetUID()]
		if waits == nil || waits.holder != holder {
			waits = &ownerWait{holder: holder, since: now}
		}
		w.since[owner.GetUID()] = waits
		if !waits.told && now.Sub(waits.since) >= patience {
			waits.told = true
			told[holder]++
			w.recorder.Eventf(owner, nil, corev1.EventTypeWarning, reasonWaits, pipeline.EventAction,
				"shard %q has claimed it and does not give it back to shard %q: run a process of shard %[1]q, or remove the annotation %[3]s",
				holder, w.Name, w.annotation)
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
		log.FromContext(ctx).Info("no process reconciles owners that a shard claimed; no process of that shard seems to run", "shard", w.Name,
			"claimed by", strings.Join(slices.Sorted(maps.Keys(told)), ", "), "owners that wait", waiting)
	}
	return err
}
