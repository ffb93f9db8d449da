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

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/passlog"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// Instance is one life of the operator, from its start to its end.
type Instance struct {
	World     *world.World
	View      *view.View
	Wire      *transport.Wire
	Scheduler *schedule.Scheduler
	stop      context.CancelFunc
	failed    chan error
	Passes    int
	Log       *passlog.Log
	peer      *Instance    // another one that is still there, see overlap
	Early     string       // why an owner that calls itself ready should not
	hung      error        // what went wrong in the middle of a pass
	outside   map[int]bool // passes after which somebody else has changed the world
	eager     bool         // see Variation
}

// Variation is what a case varies of a run.
type Variation struct {
	Inject   []*transport.Injection // what goes wrong with requests
	Lag      map[string]int         // passes by kind; "" is all kinds
	Shake    func([]view.Event) []view.Event
	Resync   bool   // once everything is at rest, all is delivered once more
	Slow     bool   // the others act only when the operator has nothing left to do
	Behind   bool   // at rest the operator restarts into a cache that shows what was there before the step
	Alone    string // the one kind of which it does, for some passes; empty is all kinds
	past     *view.Past
	Reversed bool
	Overlap  bool // another instance, with a cache of its own, is there beside this one
	Again    bool // the instance after a crash crashes with its first write, too
	Eager    bool // a pass that has written something is followed by another one, whether or not the cache shows it
}

// Start brings up a new instance in a world.
func Start(ctx context.Context, w *world.World, variant Variation, log *eventLog) (*Instance, error) {
	lines := passlog.New(w.Listen)
	ctx, stop := context.WithCancel(logr.NewContext(ctx, lines.Logger())) // as the manager's logger is
	i := &Instance{
		World: w, View: view.New(w, w.System.Cache), Wire: transport.New(w), Scheduler: schedule.New(w.Clock), stop: stop, Log: lines,
		failed: make(chan error, 16), outside: map[int]bool{}, eager: variant.Eager,
	}
	i.Wire.Arm(variant.Inject...)
	i.Wire.Between = func(context.Context) { i.Beside() }
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

// launch starts what was added to the manager and waits until all controllers ask for work.
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

// useQueue makes a controller take its work from the scheduler. What controller-runtime's builder makes has an exported
// field for the constructor of its queue, on a type that is internal.
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

// End stops the instance; what it has in memory is lost.
func (i *Instance) End() {
	i.stop()
	i.Scheduler.ShutDown()
}

// dead reports whether the instance has crashed.
func (i *Instance) dead() bool {
	return i.Wire.IsCut()
}

// RestlessError reports that the passes do not come to an end.
type RestlessError struct {
	// Passes is how many there were, Idle how many of the last ones changed nothing.
	Passes, Idle int
	// Last is the owner of the last one.
	Last string
	// Within is the time in which the idle passes were.
	Within time.Duration
}

// Error reports how many passes there were, and of what sort.
func (e *RestlessError) Error() string {
	if e.Idle >= MaxIdle {
		return fmt.Sprintf("hot retry: %d passes in a row for %s, within %s, have changed nothing and asked for another one",
			e.Idle, e.Last, e.Within)
	}
	return fmt.Sprintf("no rest after %d passes, the last one for %s", e.Passes, e.Last)
}

// Settle runs passes until nothing is left to do, or until the instance crashes.
func (i *Instance) Settle(ctx context.Context) error {
	p := pace{changed: i.World.Clock.Now()}
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
		before, countable := i.World.Revision()
		wrote, err := i.pass(ctx, next)
		if err != nil {
			return err
		}
		if _, err := i.beside(ctx); err != nil {
			return err
		}
		after, _ := i.World.Revision()
		p.note(next, i.World.Clock.Now(), countable && after != before || !countable && wrote)
		if p.perpetual() && i.World.System.Horizon == 0 {
			i.World.Perpetual = true
			return nil
		}
		if p.endless(i.World.System) || p.hot(i.World.Clock.Now()) {
			return &RestlessError{Passes: i.Passes, Idle: p.idle, Last: next.Request.String(), Within: i.World.Clock.Now().Sub(p.changed)}
		}
	}
	return nil
}

// idle goes on when no pass is ready: the cache sees more, somebody else acts, or time moves to the next planned pass. It reports
// whether anything of this was left to do.
func (i *Instance) idle(ctx context.Context, p *pace) (acted bool, err error) {
	if i.View.Advance() {
		return true, nil
	}
	if acted, err = i.beside(ctx); err != nil || acted {
		return acted, err
	}
	if acted, err = i.others(ctx); err != nil || acted {
		return acted, err
	}
	due, planned := i.Scheduler.Due()
	if !planned || p.over(due, i.World) {
		return false, nil
	}
	p.jump(i.World.Clock.Now(), due)
	i.World.Clock.Set(due)
	i.Scheduler.Wake()
	return true, nil
}

// others lets everybody else act when they are slow: once the operator and its cache have nothing left to do.
func (i *Instance) others(ctx context.Context) (acted bool, err error) {
	if !i.World.Slow {
		return false, nil
	}
	before, _ := i.World.Revision()
	if err := i.World.Turn(ctx); err != nil {
		return false, err
	}
	if after, _ := i.World.Revision(); after == before {
		return false, nil
	}
	i.outside[i.Passes] = true
	return true, i.View.Sync()
}

// pass runs one pass and lets the others act afterwards.
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
		i.Early = tooEarly(i.World, i.View, i.Wire.Calls()[sent:], next.Request.NamespacedName)
	}
	return wrote, i.After(ctx)
}

// After lets everybody else act and the cache see the result.
func (i *Instance) After(ctx context.Context) error {
	if err := i.View.Observe(); err != nil { // what the operator did, before others undo it
		return err
	}
	if i.World.Slow {
		return i.View.Sync()
	}
	before, _ := i.World.Revision()
	if err := i.World.Turn(ctx); err != nil {
		return err
	}
	if after, _ := i.World.Revision(); after != before {
		i.outside[i.Passes] = true
	}
	return i.View.Sync()
}

// ChangedOutside reports whether somebody else has changed the world after one pass and before another.
func (i *Instance) ChangedOutside(from, to int) bool {
	for pass := from; pass < to; pass++ {
		if i.outside[pass] {
			return true
		}
	}
	return false
}
