package controller

import (
	"context"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/watching"
)

// ShardOf returns the function that assigns owners to one of count shards.
func ShardOf(count int) func(client.Object) string {
	division := shards.Divide(count)
	return func(owner client.Object) string { return strconv.Itoa(division.Of(owner.GetUID())) }
}

// WatchesPart reports whether the informer of the owners lists only those of the shard.
func (c *Controller) WatchesPart() bool { return c.informers != nil }

// PriorityHandler returns the event handler of a kind, one object of which the owner reads by name.
func PriorityHandler(owner, reads types.NamespacedName) handler.EventHandler {
	tracker, k := tracking.NewTracker(), &declaration.Kind{}
	k.Index = tracking.NewIndex(k.Field)
	s := tracker.Begin(owner, tracking.ScopeRead)
	s.Name(k.Index, reads)
	s.End()
	w := &watching.Watcher{Kind: k, Owner: &declaration.Kind{}, Tracker: tracker, Triggers: &trigger.Triggers{}}
	return w.Handler()
}

// Untraced returns a function that runs the tracing code of a reconciliation without a tracer.
func Untraced() func(context.Context) {
	nothing := ctrl.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil })
	o, err := observe.NewObserver(prometheus.NewRegistry(), "untraced", observe.NewLastPasses(clock.RealClock{}), nil)
	if err != nil {
		panic(err)
	}
	p := &passReconciler{
		Next: nothing, Pending: tracked.NewPendingWrites(0), Unstable: &trigger.Unstable{}, Triggers: &trigger.Triggers{}, Clock: clock.RealClock{},
		Spans: observe.NewTracing("", nil, nil), Observer: o, Pace: &trigger.Pace{},
	}
	request := ctrl.Request{NamespacedName: types.NamespacedName{Name: "w"}}
	return func(ctx context.Context) {
		_, _ = p.Reconcile(o.PhaseStart(ctx, reconcile.PhaseFetch), request)
	}
}
