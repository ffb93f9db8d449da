package tracked

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// externalReads observes external resources and enqueues owners when they change. Nil is valid for a controller without any.
type externalReads struct {
	engine  *external.Engine
	tracker *tracking.Tracker
	indexes map[string]*tracking.Index // by kind

	mu    sync.Mutex
	queue queue // nil before the controller starts
}

type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// NewExternalReads returns the external reads for the kinds of the configuration. It sets the function of the configuration that
// enqueues owners.
func NewExternalReads(tracker *tracking.Tracker, config external.Config) (*externalReads, error) {
	r := &externalReads{tracker: tracker, indexes: map[string]*tracking.Index{}}
	config.Wake = r.wakeLater
	for _, k := range config.Kinds {
		r.indexes[k.Name()] = tracking.NewIndex(func(client.Object, string) ([]string, bool) { return nil, false })
	}
	var err error
	if r.engine, err = external.NewEngine(config); err != nil {
		return nil, err
	}
	return r, nil
}

// Begin starts the pass of an owner.
func (r *externalReads) Begin(owner types.NamespacedName) {
	if r != nil {
		r.engine.Begin(owner)
	}
}

// Wrap returns an applier that passes each plan's external part to the engine for external resources and the rest to next.
func (r *externalReads) Wrap(next pipeline.Applier) pipeline.Applier {
	if r == nil {
		return next
	}
	return r.engine.Wrap(next)
}

// Announces returns a function that passes changed owners to both engines.
func (r *externalReads) Announces(next func(client.Object)) func(client.Object) {
	if r == nil {
		return next
	}
	return func(owner client.Object) {
		r.engine.AnnounceOwner(owner)
		next(owner)
	}
}

// Get observes an external resource, and records the read for the owner of the session.
func (r *externalReads) Get(ctx context.Context, s *tracking.Session, key types.NamespacedName, into *external.Object) error {
	if r == nil {
		return &external.NotDeclaredError{Kind: into.Kind}
	}
	if x := r.indexes[into.Kind]; x != nil {
		s.Name(x, key)
	}
	return r.engine.Get(ctx, s.Owner(), into)
}

// Open returns, by kind, the number of systems that are temporarily not called.
func (r *externalReads) Open() map[string]int {
	if r == nil {
		return nil
	}
	return r.engine.Open()
}

// wakeLater enqueues the owner after a delay.
func (r *externalReads) wakeLater(owner types.NamespacedName, after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queue != nil {
		r.queue.AddAfter(ctrl.Request{NamespacedName: owner}, after)
	}
}

// Watch enqueues owners on events of external resources that they have observed, while this process leads.
func (r *externalReads) Watch(controller interface{ Watch(src source.Source) error }, elected <-chan struct{}, woken *trigger.Triggers) error {
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

// changed enqueues the owners that have observed the key, or any resource of the kind if the key is empty.
func (r *externalReads) changed(q queue, woken *trigger.Triggers, kind schema.GroupVersionKind, key string) {
	thing := declaration.MetadataOf(kind)
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
