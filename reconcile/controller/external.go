package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
)

// externalKind is a declared kind of things outside of the cluster.
type externalKind struct {
	external.Declared
	source string
}

// intercepting is implemented by managers of tests that stand around every call outside of the cluster, to search with faults.
type intercepting interface {
	// InterceptExternal is called around every call, see [external.Interceptor].
	InterceptExternal(ctx context.Context, call external.Call, next func(context.Context) error) error
}

// externalReads are the observations of things outside of the cluster, and what wakes their owners. Nil is a controller without any.
type externalReads struct {
	engine  *external.Engine
	tracker *tracking.Tracker
	indexes map[string]*tracking.Index // by kind

	mu    sync.Mutex
	queue queue // nil until the controller has started
}

var errExternalGroup = errors.New("a group has no object that could remember what it has outside of the cluster: declare External on the controller of an object")

// outside sets the declared kinds up.
func (b *Builder[T, F, O]) outside(mgr manager.Manager, reads *cachedReads, options Options, calls *observer) (*externalReads, error) {
	config := external.Config{Called: calls.called}
	if test, ok := mgr.(intercepting); ok {
		config.Intercept = test.InterceptExternal
	}
	return reads.external, b.engineOutside(reads, options, config)
}

// dryOutside sets the declared kinds up for a preview, which observes and changes nothing.
func (b *Builder[T, F, O]) dryOutside(reads *cachedReads, options Options) error {
	return b.engineOutside(reads, options, external.Config{DryRun: true})
}

func (b *Builder[T, F, O]) engineOutside(reads *cachedReads, options Options, config external.Config) error {
	if len(b.externals) == 0 {
		return nil
	}
	if b.board != nil {
		return fmt.Errorf("controller %q: External at %s: %w", b.name, b.externals[0].source, errExternalGroup)
	}
	r := &externalReads{tracker: reads.tracker, indexes: map[string]*tracking.Index{}}
	config.FieldManager, config.Finalizer, config.Clock, config.Wake = b.fieldManager(), b.finalizer(), options.Clock, r.wakeLater
	if config.Domain = options.Apply.Domain; config.Domain == "" {
		config.Domain = apply.DefaultDomain
	}
	for _, k := range b.externals {
		config.Kinds = append(config.Kinds, k.Declared)
		r.indexes[k.Name()] = tracking.NewIndex(func(client.Object, string) ([]string, bool) { return nil, false })
	}
	var err error
	if r.engine, err = external.NewEngine(config); err != nil {
		return fmt.Errorf("controller %q: %w", b.name, err)
	}
	reads.external = r
	return nil
}

// begin starts the pass of an owner.
func (r *externalReads) begin(owner types.NamespacedName) {
	if r != nil {
		r.engine.Begin(owner)
	}
}

// wrap lets the engine for what is outside carry its part of each plan out.
func (r *externalReads) wrap(next reconcile.Applier) reconcile.Applier {
	if r == nil {
		return next
	}
	return r.engine.Wrap(next)
}

// announces tells both engines of owners that have changed.
func (r *externalReads) announces(next func(client.Object)) func(client.Object) {
	if r == nil {
		return next
	}
	return func(owner client.Object) {
		r.engine.AnnounceOwner(owner)
		next(owner)
	}
}

// outside observes a thing outside of the cluster, and remembers that the owner has.
func (r *trackedReader) outside(ctx context.Context, key types.NamespacedName, into *external.Object) error {
	if r.external == nil {
		return &external.NotDeclaredError{Kind: into.Kind}
	}
	if x := r.external.indexes[into.Kind]; x != nil {
		r.session.Name(x, key)
	}
	return r.external.engine.Get(ctx, r.session.Owner(), into)
}

// wakeLater asks for a pass of the owner after a time.
func (r *externalReads) wakeLater(owner types.NamespacedName, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queue != nil {
		r.queue.AddAfter(ctrl.Request{NamespacedName: owner}, after)
	}
}

// watchOutside lets events from outside wake the owners that have observed what has changed, while this process leads.
func watchOutside(controller interface{ Watch(source.Source) error }, r *externalReads, elected <-chan struct{}, woken *trigger.Triggers) error {
	if r == nil {
		return nil
	}
	return controller.Watch(source.Func(func(ctx context.Context, q queue) error {
		r.mu.Lock()
		r.queue = q
		r.mu.Unlock()
		go func() {
			select {
			case <-ctx.Done():
			case <-elected:
				r.engine.Watch(log.IntoContext(ctx, log.FromContext(ctx)), func(kind schema.GroupVersionKind, key string) {
					r.changed(q, woken, kind, key)
				})
			}
		}()
		return nil
	}))
}

// changed wakes the owners that have observed the key, or anything of the kind where the key is empty.
func (r *externalReads) changed(q queue, woken *trigger.Triggers, kind schema.GroupVersionKind, key string) {
	thing := Metadata(kind)
	thing.Name = key
	x := r.indexes[kind.Kind]
	var owners []types.NamespacedName
	if key == "" {
		owners = r.tracker.Readers(x)
	} else {
		owners = r.tracker.Concerned(x, thing)
	}
	for _, owner := range owners {
		woken.Note(owner, kind, trigger.Change{Event: trigger.EventGeneric, After: thing})
		q.Add(ctrl.Request{NamespacedName: owner})
	}
}
