package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/passlog"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/schedule"
)

// instance is one life of the operator, from its start to its end.
type instance struct {
	world     *world
	view      *view
	wire      *wire
	scheduler *schedule.Scheduler
	stop      context.CancelFunc
	failed    chan error
	passes    int
	log       *passlog.Log
	peer      *instance    // another one that is still there, see overlap
	early     string       // why an owner that calls itself ready should not
	outside   map[int]bool // passes after which somebody else has changed the world
}

// options of a run that cases vary.
type variation struct {
	inject   *injection
	lag      map[string]int // passes by kind; "" is all kinds
	shake    func([]event) []event
	resync   bool // once everything is at rest, all is delivered once more
	slow     bool // the others act only when the operator has nothing left to do
	behind   bool // at rest the operator restarts into a cache that shows what was there before the step
	past     map[schema.GroupVersionKind]snapshot
	reversed bool
	overlap  bool // another instance, with a cache of its own, is there beside this one
	again    bool // the instance after a crash crashes with its first write, too
}

// start brings up a new instance in a world.
func start(ctx context.Context, w *world, variant variation, log *eventLog) (*instance, error) {
	lines := passlog.New(w.listen)
	ctx, stop := context.WithCancel(logr.NewContext(ctx, lines.Logger())) // as the manager's logger is
	i := &instance{
		world: w, view: newView(w, w.system.Cache), wire: newWire(w), scheduler: schedule.New(w.clock), stop: stop, log: lines,
		failed: make(chan error, 16), outside: map[int]bool{},
	}
	i.wire.arm(variant.inject)
	i.view.past = variant.past
	i.view.disturb(variant.shake, variant.lag)
	m := newManager(w, i.view, i.wire, log.add, lines)
	if err := w.setup()(m); err != nil {
		stop()
		return nil, fmt.Errorf("system: Setup: %w", err)
	}
	if err := i.launch(ctx, m); err != nil {
		i.end()
		return nil, err
	}
	i.scheduler.Order()
	return i, nil
}

// launch starts what was added to the manager and waits until all controllers ask for work.
func (i *instance) launch(ctx context.Context, m *testManager) error {
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
			waiting = i.scheduler.Waiting()
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
func (i *instance) useQueue(runnable any) error {
	construct := func(name string, _ workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return i.scheduler.NewQueue(name)
	}
	value := reflect.ValueOf(runnable)
	if value.Kind() != reflect.Pointer || value.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("%w: %T", errOtherQueue, runnable)
	}
	field := value.Elem().FieldByName("NewQueue")
	if !field.IsValid() || !field.CanSet() || field.Type() != reflect.TypeOf(construct) {
		return fmt.Errorf("%w: %T", errOtherQueue, runnable)
	}
	field.Set(reflect.ValueOf(construct))
	return nil
}

// end stops the instance; what it has in memory is lost.
func (i *instance) end() {
	i.stop()
	i.scheduler.ShutDown()
}

// dead reports whether the instance has crashed.
func (i *instance) dead() bool {
	return i.wire.isCut()
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
	if e.Idle >= maxIdle {
		return fmt.Sprintf("hot retry: %d passes in a row for %s, within %s, have changed nothing and asked for another one",
			e.Idle, e.Last, e.Within)
	}
	return fmt.Sprintf("no rest after %d passes, the last one for %s", e.Passes, e.Last)
}

// settle runs passes until nothing is left to do, or until the instance crashes.
func (i *instance) settle(ctx context.Context) error {
	p := pace{changed: i.world.clock.Now()}
	if err := i.after(ctx); err != nil {
		return err
	}
	for !i.dead() {
		next, ready := i.scheduler.Take()
		if !ready {
			if i.view.advance() {
				continue
			}
			if acted, err := i.beside(ctx); err != nil {
				return err
			} else if acted {
				continue
			}
			if acted, err := i.others(ctx); err != nil {
				return err
			} else if acted {
				continue
			}
			due, planned := i.scheduler.Due()
			if !planned || p.over(due, i.world) {
				return nil
			}
			p.jump(i.world.clock.Now(), due)
			i.world.clock.Set(due)
			i.scheduler.Wake()
			continue
		}
		before, countable := i.world.revision()
		wrote, err := i.pass(ctx, next)
		if err != nil {
			return err
		}
		if _, err := i.beside(ctx); err != nil {
			return err
		}
		after, _ := i.world.revision()
		p.note(i.world.clock.Now(), countable && after != before || !countable && wrote)
		if p.perpetual() && i.world.system.Horizon == 0 {
			i.world.perpetual = true
			return nil
		}
		if p.endless(i.world.system) || p.hot(i.world.clock.Now()) {
			return &RestlessError{Passes: i.passes, Idle: p.idle, Last: next.Request.String(), Within: i.world.clock.Now().Sub(p.changed)}
		}
	}
	return nil
}

// others lets everybody else act when they are slow: once the operator and its cache have nothing left to do.
func (i *instance) others(ctx context.Context) (acted bool, err error) {
	if !i.world.slow {
		return false, nil
	}
	before, _ := i.world.revision()
	if err := i.world.turn(ctx); err != nil {
		return false, err
	}
	if after, _ := i.world.revision(); after == before {
		return false, nil
	}
	i.outside[i.passes] = true
	return true, i.view.sync()
}

// pass runs one pass and lets the others act afterwards.
func (i *instance) pass(ctx context.Context, next schedule.Item) (wrote bool, err error) {
	i.passes++
	sent := i.wire.enter(i.passes)
	i.view.reads.pass(true)
	err = i.scheduler.Run(next)
	i.view.reads.pass(false)
	if err != nil {
		return false, err
	}
	for _, c := range i.wire.calls()[sent:] {
		wrote = wrote || c.changed
	}
	if i.early == "" {
		i.early = i.tooEarly(next.Request.NamespacedName, sent)
	}
	return wrote, i.after(ctx)
}

// after lets everybody else act and the cache see the result.
func (i *instance) after(ctx context.Context) error {
	if err := i.view.observe(); err != nil { // what the operator did, before others undo it
		return err
	}
	if i.world.slow {
		return i.view.sync()
	}
	before, _ := i.world.revision()
	if err := i.world.turn(ctx); err != nil {
		return err
	}
	if after, _ := i.world.revision(); after != before {
		i.outside[i.passes] = true
	}
	return i.view.sync()
}

// changedOutside reports whether somebody else has changed the world after one pass and before another.
func (i *instance) changedOutside(from, to int) bool {
	for pass := from; pass < to; pass++ {
		if i.outside[pass] {
			return true
		}
	}
	return false
}
