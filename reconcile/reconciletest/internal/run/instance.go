package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/passlog"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// Instance is one instance of the operator, from its start to its end.
type Instance struct {
	Cluster   *cluster.Cluster
	View      *view.View
	Wire      *transport.Wire
	Scheduler *schedule.Scheduler
	stop      context.CancelFunc
	failed    chan error
	Passes    int
	Log       *passlog.Log
	peer      *Instance    // another instance that still runs, see overlap
	Early     string       // why an owner that reports ready should not
	hung      error        // an error in the middle of a pass
	outside   map[int]bool // passes after which another client has changed the cluster
	eager     bool         // see Variation
}

// Variation is the variation of a run by a case.
type Variation struct {
	Inject   []*transport.Injection // faults of requests
	Lag      map[string]int         // passes by kind; "" is all kinds
	Shake    func([]view.Event) []view.Event
	Resync   bool   // a resync follows in steady state
	Slow     bool   // the others act only when the operator is idle
	Behind   bool   // in steady state the operator restarts with a cache that shows the state before the step
	Alone    string // the only lagging kind, for some passes; empty is all kinds
	past     *view.Past
	Reversed bool
	Overlap  bool // another instance, with a cache of its own, runs concurrently
	Again    bool // the instance after a crash also crashes at its first write
	Eager    bool // after a pass with a write another one follows, even if the cache does not show the write
}

// Start starts a new instance in a cluster.
func Start(ctx context.Context, w *cluster.Cluster, variant Variation, log *eventLog) (*Instance, error) {
	lines := passlog.New(w.Listen)
	ctx, stop := context.WithCancel(logr.NewContext(ctx, lines.Logger())) // as in the manager's logger
	i := &Instance{
		Cluster: w, View: view.New(w, w.System.Cache), Wire: transport.New(w), Scheduler: schedule.New(w.Clock), stop: stop, Log: lines,
		failed: make(chan error, 16), outside: map[int]bool{}, eager: variant.Eager,
	}
	i.Wire.Arm(variant.Inject...)
	i.Wire.Between = func(context.Context) { i.Interleave() }
	i.Wire.Shown = func() {
		if err := i.View.Sync(); err != nil {
			i.hung = err
		}
	}
	i.View.Past, i.View.Delivered = variant.past, i.Scheduler.Order
	i.View.Disturb(variant.Shake, variant.Lag)
	m := NewManager(w, i.View, i.Wire, log.add, lines)
	if err := w.Setup()(m); err != nil {
		stop()
		return nil, fmt.Errorf("system: Setup: %w", err)
	}
	if err := i.launch(ctx, m); err != nil {
		i.End()
		return nil, err
	}
	i.Scheduler.Order()
	return i, nil
}

// launch starts the runnables of the manager and waits until all controllers wait for work.
func (i *Instance) launch(ctx context.Context, m *TestManager) error {
	i.View.Begin()
	controllers := 0
	for _, runnable := range m.runnables {
		if _, ok := runnable.(ctrlcontroller.Controller); ok {
			controllers++
			if err := i.useQueue(runnable); err != nil {
				return err
			}
		}
		go func() {
			if err := runnable.Start(ctx); err != nil && ctx.Err() == nil {
				i.failed <- fmt.Errorf("start %T: %w", runnable, err)
			}
		}()
	}
	if controllers == 0 {
		return errNoController
	}
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	tick := time.NewTicker(time.Millisecond / 4) //nolint:mnd // queues are made by the controllers, each in its goroutine
	defer tick.Stop()
	for waiting := 0; waiting < controllers; {
		select {
		case err := <-i.failed:
			return err
		case <-timeout.C:
			return fmt.Errorf("system: only %d of %d controllers have started after %s", waiting, controllers, startTimeout)
		case <-tick.C:
			waiting = i.Scheduler.Waiting()
		}
	}
	return nil
}

var (
	errNoController = errors.New("system: Setup has added no controller to the manager")
	errOtherQueue   = errors.New("system: the queue of the controller cannot be replaced: want one of reconcile.Request, " +
		"by this version of controller-runtime")
)

// useQueue makes a controller use a queue of the scheduler. Controllers of controller-runtime's builder have an exported field for the
// constructor of the queue, on an internal type.
func (i *Instance) useQueue(runnable any) error {
	value := reflect.ValueOf(runnable)
	if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("%w: %T", errOtherQueue, runnable)
	}
	workers := 1
	if field := value.Elem().FieldByName("MaxConcurrentReconciles"); field.IsValid() && field.CanInt() {
		workers = int(field.Int())
	}
	construct := func(name string, _ workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return i.Scheduler.NewQueue(name, workers)
	}
	field := value.Elem().FieldByName("NewQueue")
	if !field.IsValid() || !field.CanSet() || field.Type() != reflect.TypeOf(construct) {
		return fmt.Errorf("%w: %T", errOtherQueue, runnable)
	}
	field.Set(reflect.ValueOf(construct))
	return nil
}

// End stops the instance and drops its memory.
func (i *Instance) End() {
	i.stop()
	i.Scheduler.ShutDown()
}

// dead reports whether the instance has crashed.
func (i *Instance) dead() bool {
	return i.Wire.IsCut()
}

// SteadyStateError reports that the passes do not end.
type SteadyStateError struct {
	// Passes is the number of passes, Idle that of the last passes without a change.
	Passes, Idle int
	// Last is the owner of the last pass.
	Last string
	// Within is the time span of the idle passes.
	Within time.Duration
}

// Error reports the number and kind of the passes.
func (e *SteadyStateError) Error() string {
	if e.Idle >= MaxIdle {
		return fmt.Sprintf("hot retry: %d passes in a row for %s, within %s, have changed nothing and requested another one",
			e.Idle, e.Last, e.Within)
	}
	return fmt.Sprintf("no steady state after %d passes, the last one for %s", e.Passes, e.Last)
}

// Settle runs passes until steady state, or until the instance crashes.
func (i *Instance) Settle(ctx context.Context) error {
	p := pace{changed: i.Cluster.Clock.Now()}
	if i.View.Past == nil || i.Passes > 0 { // the first pass after a restart into the past sees the past
		if err := i.After(ctx); err != nil {
			return err
		}
	}
	for !i.dead() {
		next, ready := i.Scheduler.Take()
		if !ready {
			if acted, err := i.idle(ctx, &p); err != nil || !acted {
				return err
			}
			continue
		}
		before, countable := i.Cluster.Revision()
		wrote, err := i.pass(ctx, next)
		if err != nil {
			return err
		}
		if _, err := i.interleave(ctx); err != nil {
			return err
		}
		after, _ := i.Cluster.Revision()
		p.note(next, i.Cluster.Clock.Now(), countable && after != before || !countable && wrote)
		if p.perpetual() && i.Cluster.System.Horizon == 0 {
			i.Cluster.Perpetual = true
			return nil
		}
		if p.endless(i.Cluster.System) || p.hot(i.Cluster.Clock.Now()) {
			return &SteadyStateError{Passes: i.Passes, Idle: p.idle, Last: next.Request.String(), Within: i.Cluster.Clock.Now().Sub(p.changed)}
		}
	}
	return nil
}

// idle continues if no pass is ready: the cache advances, others act, or the clock moves to the next scheduled pass. It reports whether
// anything was left to do.
func (i *Instance) idle(ctx context.Context, p *pace) (acted bool, err error) {
	if i.View.Advance() {
		return true, nil
	}
	if acted, err = i.interleave(ctx); err != nil || acted {
		return acted, err
	}
	if acted, err = i.others(ctx); err != nil || acted {
		return acted, err
	}
	due, planned := i.Scheduler.Due()
	if !planned || p.over(due, i.Cluster) {
		return false, nil
	}
	p.jump(i.Cluster.Clock.Now(), due)
	i.Cluster.Clock.Set(due)
	i.Scheduler.MakeReady()
	return true, nil
}

// others runs slow others, once the operator and its cache are idle.
func (i *Instance) others(ctx context.Context) (acted bool, err error) {
	if !i.Cluster.Slow {
		return false, nil
	}
	before, _ := i.Cluster.Revision()
	if err := i.Cluster.Turn(ctx); err != nil {
		return false, err
	}
	if after, _ := i.Cluster.Revision(); after == before {
		return false, nil
	}
	i.outside[i.Passes] = true
	return true, i.View.Sync()
}

// pass runs one pass and then the others.
func (i *Instance) pass(ctx context.Context, next schedule.Item) (wrote bool, err error) {
	i.Passes++
	sent := i.Wire.Enter(i.Passes)
	i.View.Reads.Pass(true)
	err = i.Scheduler.Run(next)
	i.View.Reads.Pass(false)
	if err = cmp.Or(err, i.hung); err != nil {
		return false, err
	}
	for _, c := range i.Wire.Calls()[sent:] {
		wrote = wrote || c.Changed
	}
	if wrote && i.eager {
		i.Scheduler.Repeat(next)
	}
	if i.Early == "" {
		i.Early = tooEarly(i.Cluster, i.View, i.Wire.Calls()[sent:], next.Request.NamespacedName)
	}
	return wrote, i.After(ctx)
}

// After runs the others and updates the cache.
func (i *Instance) After(ctx context.Context) error {
	if err := i.View.Observe(); err != nil { // the operator's changes, before others revert them
		return err
	}
	if i.Cluster.Slow {
		return i.View.Sync()
	}
	before, _ := i.Cluster.Revision()
	if err := i.Cluster.Turn(ctx); err != nil {
		return err
	}
	if after, _ := i.Cluster.Revision(); after != before {
		i.outside[i.Passes] = true
	}
	return i.View.Sync()
}

// ChangedOutside reports whether another client has changed the cluster between two passes.
func (i *Instance) ChangedOutside(from, to int) bool {
	for pass := from; pass < to; pass++ {
		if i.outside[pass] {
			return true
		}
	}
	return false
}
