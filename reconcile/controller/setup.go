package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/multicluster"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/watching"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/status"
)

const defaultSyncTimeout = 2 * time.Minute

// SetupWithManager adds the controller to the manager. It returns an error when a kind is not in the scheme, when
// declarations contradict each other, when a kind that is not [Optional] is not installed, and when the owner's kind is
// served without the status subresource.
func (c *Controller) SetupWithManager(mgr manager.Manager) error {
	for _, prepare := range c.prepares {
		if err := prepare(mgr); err != nil {
			return skipped(err)
		}
	}
	return c.setup(mgr)
}

// skipped returns nil for ErrSkip, and other errors of functions of [Builder.Prepare] unchanged.
func skipped(err error) error {
	if errors.Is(err, ErrSkip) {
		return nil
	}
	return err
}

func (c *Controller) setup(mgr manager.Manager) error {
	kinds, err := c.resolved(mgr.GetScheme())
	if err != nil {
		return err
	}
	if err := errors.Join(multicluster.Check(mgr, kinds), shards.Check(c.options.Shard, c.name, c.store != nil), locateKinds(mgr, kinds)); err != nil {
		return err
	}
	if err := errors.Join(checkStatus(mgr, kinds), c.checkFilter(kinds.Kinds[0])); err != nil {
		return err
	}
	if err := c.names().Claim(mgr, kinds.Kinds[0].GroupKind()); err != nil {
		return err
	}
	options := c.withDefaults(mgr)
	options.Apply.Kinds = kinds.ChildKinds()
	joined := &groups.Joined{Controller: c.name}
	reads := tracked.New(kinds, mgr.GetCache(), options.Apply.LagDeadline, tracked.Answers{Group: joined.Read, Absent: absent, Live: tracked.Limited(mgr.GetAPIReader())})
	reads.Conditions = c.phases.conditions()
	reads.Unsummarized = c.options.Conditions != nil && !c.options.Conditions(conditions.Ready)
	synced := &observe.Caches{Failed: c.failed}
	observer, err := c.observer(mgr, reads, synced, options)
	if err != nil {
		return err
	}
	if err := observe.Ready(mgr, c.name, synced, options.Clock); err != nil {
		return err
	}
	options.Observer = observer
	spans := observe.NewTracing(c.name, options.TracerProvider, observer)
	if spans != nil {
		options.Observer = spans
	}
	loop, err := c.pipeline(mgr, reads, options)
	if err != nil {
		return err
	}
	woken, again := &trigger.Triggers{Changed: whileLeading(mgr.Elected(), observer.Changed)}, &later{}
	reads.Pace.Interval = options.EventInterval
	controller, err := ctrlcontroller.New(c.name, mgr, ctrlcontroller.Options{
		Reconciler: &passReconciler{
			Next: loop, Pending: reads.Pending, Unstable: &reads.Unstable, Pace: &reads.Pace, Triggers: woken, Clock: options.Clock,
			Observer: observer, Spans: spans, Later: again,
		},
		MaxConcurrentReconciles: c.concurrency(mgr, kinds.Kinds[0].GroupKind().String()),
		CacheSyncTimeout:        options.SyncTimeout,
		SkipNameValidation:      skip(options.SkipNameValidation),
		EnableWarmup:            new(true), // a standby is ready when its caches have synced
		NewQueue:                newQueue(mgr),
	})
	if err != nil {
		return fmt.Errorf("controller %q: %w", c.name, err)
	}
	if err := errors.Join(controller.Watch(again), reads.Outside.Watch(controller, mgr.Elected(), woken), c.releaseOwners(mgr, controller)); err != nil {
		return fmt.Errorf("controller %q: %w", c.name, err)
	}
	if err := c.observed(mgr, reads, observer, joined, options); err != nil {
		return err
	}
	c.explainer.Caches, c.explainer.Triggers, c.running = synced, woken, mgr
	return c.watch(mgr, controller, reads, joined, woken, synced)
}

// whileLeading calls do only after the process is elected. A standby receives the same events, but another process reconciles the owners.
func whileLeading(elected <-chan struct{}, do func(types.NamespacedName, int64)) func(types.NamespacedName, int64) {
	return func(owner types.NamespacedName, generation int64) {
		select {
		case <-elected:
			do(owner, generation)
		default:
		}
	}
}

// observed prepares the explanations of the controller, and reports panics outside of reconciliations to its observer.
func (c *Controller) observed(
	mgr manager.Manager, reads *tracked.Reads, observer *observe.Observer, joined *groups.Joined, options Options,
) error {
	description, err := c.Describe(mgr.GetScheme())
	if err != nil {
		return err
	}
	c.explainer = &observe.Explainer{
		Reads: reads, LastPasses: observer.LastPasses, Joined: joined.Names, Pause: options.PauseAnnotation, Flow: description,
		Elected: mgr.Elected(),
	}
	if options.Shard != nil {
		c.explainer.InShard, c.explainer.Shard = options.Shard.Has(), options.Shard.Name
	}
	if c.store != nil {
		c.explainer.Groups = c.store
	}
	for _, k := range reads.Kinds {
		logger := mgr.GetLogger().WithValues("controller", c.name, "kind", declaration.Print(k.GroupVersionKind))
		k.Panics.Report = func(function string, object types.NamespacedName, reason any, stack []byte) {
			observer.Panicked(function)
			logger.Error(fmt.Errorf("%v", reason), "a function of a declaration panicked", //nolint:err113 // the panic value
				"function", function, "object", object, "stack", string(stack))
		}
	}
	return nil
}

func skip(yes bool) *bool {
	if !yes {
		return nil // the manager decides
	}
	return &yes
}

// clocked is implemented by managers with a clock, such as those of tests. It is the default of Clock in [Options].
type clocked interface {
	// GetClock returns the clock, which must not be nil.
	GetClock() clock.PassiveClock
}

// observer registers the metrics of the controller. It sets up the external kinds first, because a scrape may count them.
func (c *Controller) observer(
	mgr manager.Manager, reads *tracked.Reads, synced *observe.Caches, options Options,
) (*observe.Observer, error) {
	observer, err := observe.NewObserver(metrics.Registry, c.name, observe.NewLastPasses(options.Clock), options.Observer)
	if err != nil {
		return nil, fmt.Errorf("controller %q: register metrics: %w", c.name, err)
	}
	if err := c.outside(mgr, reads, options, observer); err != nil {
		return nil, err
	}
	if err := observe.RegisterState(metrics.Registry, c.name, reads, synced, options.PauseAnnotation, options.Clock); err != nil {
		return nil, fmt.Errorf("controller %q: register metrics: %w", c.name, err)
	}
	return observer, nil
}

// clock returns the clock of the options, else that of the manager, else the real one.
func (c *Controller) clock(mgr manager.Manager) clock.PassiveClock {
	if c.options.Clock != nil {
		return c.options.Clock
	}
	if timed, ok := mgr.(clocked); ok {
		if found := timed.GetClock(); found != nil {
			return found
		}
	}
	return clock.RealClock{}
}

// withDefaults returns the options with defaults.
func (c *Controller) withDefaults(mgr manager.Manager) Options {
	o := c.options
	if timed, ok := mgr.(clocked); ok && timed.GetClock() != nil && o.Clock == nil && o.ProgressDeadline == 0 {
		o.ProgressDeadline = -1 // the clock of a test moves to the next requeue, so the deadline would pass whenever an owner waits
	}
	o.Clock = c.clock(mgr)
	if o.Apply.Clock == nil {
		o.Apply.Clock = o.Clock
	}
	if o.Recorder == nil && c.store == nil { // a group has no object for events
		o.Recorder = mgr.GetEventRecorder(c.name)
	}
	o.Apply.FieldManager, o.Apply.Finalizer = c.names().FieldManager, c.names().Finalizer
	o.Apply.Announced = true
	if o.PauseAnnotation == "" {
		o.PauseAnnotation = pipeline.DefaultPauseAnnotation
	}
	return o
}

// pipeline returns the reconciler that runs the phases with the tracked reads and the engine.
func (c *Controller) pipeline(
	mgr manager.Manager, reads *tracked.Reads, options Options,
) (ctrl.Reconciler, error) {
	engine, err := c.engine(mgr, reads, options)
	if err != nil {
		return nil, err
	}
	writer, err := status.New(writesOf(mgr, reads), mgr.GetAPIReader(), status.Options{
		FieldManager: options.Apply.FieldManager, FormerManagers: options.Apply.FormerManagers, Clock: options.Clock,
	})
	if err != nil {
		return nil, fmt.Errorf("controller %q: %w", c.name, err)
	}
	reads.Announce, reads.AnnounceOwner = engine.Announce, reads.Outside.Announces(engine.AnnounceOwner)
	config := c.assembled(mgr, reads, options, engine, writer)
	if c.store == nil { // a group has no annotations
		config.Retry, config.Acknowledge = engine.Retry, acknowledge(writesOf(mgr, reads), reads.Kinds[0].GroupVersionKind, options.Apply.FieldManager)
	}
	return c.phases.pipeline(config)
}

// writesOf returns the client that writes, and reads from the cache.
func writesOf(mgr manager.Manager, reads *tracked.Reads) *tracked.Client {
	return tracked.NewClient(mgr.GetClient(), reads, mgr.GetAPIReader())
}

// engine returns the engine of the controller.
func (c *Controller) engine(mgr manager.Manager, reads *tracked.Reads, options Options) (*engine.Engine, error) {
	out, err := engine.New(writesOf(mgr, reads), tracked.Limited(mgr.GetAPIReader()), options.Apply)
	if err != nil {
		return nil, fmt.Errorf("controller %q: %w", c.name, err)
	}
	return out, nil
}

// assembled returns the configuration of the pipeline with the given applier and status writer.
func (c *Controller) assembled(
	mgr manager.Manager, reads *tracked.Reads, options Options, carries pipeline.Applier, statuses pipeline.StatusWriter,
) pipeline.Config {
	var reader client.Reader = mgr.GetCache()
	applier := reads.Outside.Wrap(tracked.NewApplier(carries, reads, options.Clock))
	if c.store != nil {
		world := &groups.World{Reader: reader, Applier: applier, Store: c.store, Reads: reads}
		reader, applier, statuses = world, world, world
	}
	if owner := reads.Kinds[0]; owner.Selective() {
		c.selected = &selectedOwners{
			Reader: reader, Kind: owner, Live: mgr.GetAPIReader(), Writer: writesOf(mgr, reads), Manager: c.names().FieldManager,
		}
		reader = c.selected
	}
	if options.Shard != nil {
		reader = shardOwners{Reader: reader, kind: reads.Kinds[0].GroupVersionKind, has: options.Shard.Has()}
		if shards.Retired(options.Shard) {
			mgr.GetLogger().Info("the shard was removed: this process reconciles no owner", "controller", c.name,
				"shard", options.Shard.Name, "shards", options.Shard.Count)
		}
	}
	config := c.config()
	if c.inspects() {
		config.Children = childHealth(writesOf(mgr, reads), mgr.GetScheme(), reads.ByKind)
	}
	config.Reader, config.Applier, config.StatusWriter, config.Tracker = reader, applier, statuses, reads
	config.ProgressDeadline = options.ProgressDeadline
	config.Recorder, config.Observer, config.Clock = options.Recorder, options.Observer, options.Clock
	return config
}

// watch adds the sources of the controller: one for each kind, one for all optional kinds, and those of the caller.
func (c *Controller) watch(
	mgr manager.Manager, controller ctrlcontroller.Controller, reads *tracked.Reads, joins *groups.Joined, woken *trigger.Triggers, synced *observe.Caches,
) error {
	var optional []*watching.Watcher
	requests := &trigger.Requests{Clock: c.clock(mgr)}
	sources := slices.Clone(c.sources)
	if c.store != nil {
		sources = append(sources, c.store.Source())
	}
	for _, joined := range c.joins {
		sources = append(sources, joins.Join(joined.store, reads.Tracker, woken))
	}
	for _, k := range reads.Installable() {
		w := &watching.Watcher{
			Logger: mgr.GetLogger().WithValues("controller", c.name),
			Kind:   k, Owner: reads.Kinds[0], Tracker: reads.Tracker, Triggers: woken, Statuses: &reads.Statuses,
			Requests: requests,
		}
		if c.store != nil {
			w.Groups = c.store
		}
		if k.Has(declaration.PurposeOwns) {
			w.Announce = reads.Announce
		}
		if k == reads.Kinds[0] {
			w.Owners = reads.AnnounceOwner
			if c.selected != nil && c.informers != nil {
				w.Left = c.selected.Leave
			}
		}
		if k.Optional {
			optional = append(optional, w)
			continue
		}
		if err := k.IndexFields(context.Background(), mgr.GetFieldIndexer()); err != nil { //nolint:forbidigo // the set-up has no context
			return fmt.Errorf("controller %q: %w", c.name, err)
		}
		sources = append(sources, synced.Watch(mgr.GetCache(), k, w.Source(mgr.GetCache())))
	}
	if len(optional) > 0 {
		installed, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
		if err != nil {
			return fmt.Errorf("controller %q: %w", c.name, err)
		}
		timeout := c.options.SyncTimeout
		if timeout == 0 {
			timeout = defaultSyncTimeout
		}
		sources = append(sources, synced.WatchAll("optional kinds", watching.NewCRDWatcher(mgr.GetCache(), installed, optional, timeout)))
	}
	for _, s := range sources {
		if err := controller.Watch(s); err != nil {
			return fmt.Errorf("controller %q: %w", c.name, err)
		}
	}
	return nil
}

// config returns the part of the pipeline's configuration that does not depend on a manager.
func (c *Controller) config() pipeline.Config {
	return pipeline.Config{
		Name:             c.name,
		Decorate:         c.decorate,
		Finalizer:        c.names().Finalizer,
		FieldManager:     c.names().FieldManager,
		FormerManagers:   c.options.Apply.FormerManagers,
		ReconcileDeleted: c.options.ReconcileDeleted,
		Grace:            c.options.Grace,
		LagDeadline:      c.options.Apply.LagDeadline,
		Budget:           c.options.Budget,
		PauseAnnotation:  c.options.PauseAnnotation,
		Conditions:       c.options.Conditions,
	}
}
