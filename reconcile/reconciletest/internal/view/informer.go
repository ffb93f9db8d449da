package view

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// Event is one change as a watch tells of it: before is nil for an object that appeared, after for one that is gone.
type Event struct {
	gvk           schema.GroupVersionKind
	key           types.NamespacedName
	Before, After *unstructured.Unstructured
}

// informer delivers the events of one kind in one representation to its handlers.
type informer struct {
	view     *View
	gvk      schema.GroupVersionKind
	as       representation
	handlers []*registration
	store    *store // nil for one that keeps all
}

var _ cache.Informer = (*informer)(nil)

// registration is a handler; what was there when it came is told to it at once.
type registration struct {
	toolscache.ResourceEventHandler
}

func (*registration) HasSynced() bool                          { return true }
func (*registration) HasSyncedChecker() toolscache.DoneChecker { return synced{} }

type synced struct{}

func (synced) Name() string { return "view" }

func (synced) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// GetInformer returns the informer of a kind in the representation of the object.
func (v *View) GetInformer(_ context.Context, obj client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	gvk, err := apiutil.GVKForObject(obj, v.world.Scheme)
	if err != nil {
		return nil, err
	}
	return v.informer(gvk, representationOf(obj))
}

// GetInformerForKind is GetInformer by kind.
func (v *View) GetInformerForKind(
	_ context.Context, gvk schema.GroupVersionKind, _ ...cache.InformerGetOption,
) (cache.Informer, error) {
	as := representation("unstructured")
	if v.world.Scheme.Recognizes(gvk) {
		as = "typed"
	}
	return v.informer(gvk, as)
}

func (v *View) informer(gvk schema.GroupVersionKind, as representation) (*informer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k, err := v.kind(gvk)
	if err != nil {
		return nil, err
	}
	return v.informerOf(k, gvk, as)
}

// informerOf returns the informer of a kind, which is made when it is asked for first.
func (v *View) informerOf(k *viewKind, gvk schema.GroupVersionKind, as representation) (*informer, error) {
	if i := k.informers[as]; i != nil {
		return i, nil
	}
	s, err := v.newStore(k, gvk, as)
	if err != nil {
		return nil, err
	}
	k.informers[as] = &informer{view: v, gvk: gvk, as: as, store: s}
	return k.informers[as], nil
}

// storeOf returns the store of a kind whose informer decides what it keeps, nil for one that keeps all.
func (v *View) storeOf(k *viewKind, gvk schema.GroupVersionKind, as representation) (*store, error) {
	if v.opts.NewInformer == nil {
		return nil, nil //nolint:nilnil // see above
	}
	i, err := v.informerOf(k, gvk, as)
	if err != nil {
		return nil, err
	}
	return i.store, nil
}

// RemoveInformer drops the informer of a kind in the representation of the object.
func (v *View) RemoveInformer(_ context.Context, obj client.Object) error {
	gvk, err := apiutil.GVKForObject(obj, v.world.Scheme)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if k := v.kinds[gvk]; k != nil {
		delete(k.informers, representationOf(obj))
	}
	return nil
}

// AddEventHandler implements cache.Informer.
func (i *informer) AddEventHandler(
	handler toolscache.ResourceEventHandler,
) (toolscache.ResourceEventHandlerRegistration, error) {
	_, frugal := handler.(interface{ TakesMetadata() })
	if i.store != nil {
		var err error
		if handler, err = i.store.Accept(handler); err != nil {
			return nil, err
		}
	}
	r := &registration{handler}
	i.view.mu.Lock()
	if frugal && i.view.opts.NewInformer == nil && !slices.Contains(i.view.whole, i.gvk.Kind) {
		i.view.whole = append(i.view.whole, i.gvk.Kind)
	}
	k := i.view.kinds[i.gvk]
	var present []any
	for _, key := range objects.SortedKeys(k.shown) {
		obj, err := i.object(k, key, k.shown[key])
		if err != nil {
			i.view.mu.Unlock()
			return nil, err
		}
		present = append(present, obj)
	}
	i.handlers = append(i.handlers, r)
	i.view.mu.Unlock()
	for _, obj := range present {
		handler.OnAdd(obj, true)
	}
	return r, nil
}

// object is a version of an object as the handlers of the informer get it, nil for what it has not.
func (i *informer) object(k *viewKind, key types.NamespacedName, u *unstructured.Unstructured) (any, error) {
	if i.store != nil {
		return i.store.of(key, u), nil
	}
	return i.view.object(k, i.gvk, i.as, u)
}

// AddEventHandlerWithResyncPeriod implements cache.Informer; nothing is sent again by itself.
func (i *informer) AddEventHandlerWithResyncPeriod(
	handler toolscache.ResourceEventHandler, _ time.Duration,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// AddEventHandlerWithOptions implements cache.Informer.
func (i *informer) AddEventHandlerWithOptions(
	handler toolscache.ResourceEventHandler, _ toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// RemoveEventHandler implements cache.Informer.
func (i *informer) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	i.view.mu.Lock()
	defer i.view.mu.Unlock()
	i.handlers = slices.DeleteFunc(i.handlers, func(r *registration) bool { return r == handle })
	return nil
}

// AddIndexers implements cache.Informer; indexes are added with IndexField.
func (*informer) AddIndexers(toolscache.Indexers) error {
	return errors.New("this cache has no indexers: use IndexField")
}

func (*informer) HasSynced() bool                          { return true }
func (*informer) HasSyncedChecker() toolscache.DoneChecker { return synced{} }
func (*informer) IsStopped() bool                          { return false }

// Observe notes the state of the world as one that the cache will show. What happens between two calls is seen as one
// change, as it may be by a watch that was interrupted.
func (v *View) Observe() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	revision, countable := v.world.Revision()
	if countable && revision == v.seen {
		return nil
	}
	v.seen = revision
	for _, gvk := range v.watched() {
		k := v.kinds[gvk]
		state, err := v.world.List(gvk)
		if err != nil {
			return err
		}
		state = v.filter(gvk, state)
		if len(changes(gvk, k.newest, state)) > 0 {
			k.newest = state
			k.pipe = append(k.pipe, pending{v.tick + 1, state})
		}
	}
	return nil
}

// Sync observes the world and delivers the events of what the cache shows from now on.
func (v *View) Sync() error {
	if err := v.Observe(); err != nil {
		return err
	}
	v.mu.Lock()
	v.tick++
	events := v.show()
	v.mu.Unlock()
	v.deliver(events)
	return nil
}

// Advance lets the cache catch up by one step and reports whether it was behind.
func (v *View) Advance() bool {
	v.mu.Lock()
	behind := false
	for _, k := range v.kinds {
		behind = behind || len(k.pipe) > 0
	}
	if !behind {
		v.mu.Unlock()
		return false
	}
	v.tick++
	events := v.show()
	v.mu.Unlock()
	v.deliver(events)
	return true
}

// show moves the kinds to the newest state that is old enough.
func (v *View) show() []Event {
	var events []Event
	for _, gvk := range v.watched() {
		k := v.kinds[gvk]
		k.settle()
		for len(k.pipe) > 0 && k.pipe[0].tick <= v.tick-v.lag(gvk) {
			news := changes(gvk, k.shown, k.pipe[0].state)
			events = append(events, news...)
			k.shown, k.pipe = k.pipe[0].state, k.pipe[1:]
			k.move(v, gvk, news)
		}
	}
	if v.shake != nil {
		events = v.shake(events)
	}
	return events
}

// move lets the stores of a kind follow what it shows.
func (k *viewKind) move(v *View, gvk schema.GroupVersionKind, events []Event) {
	for as, i := range k.informers {
		if i.store != nil {
			i.store.move(v, gvk, as, events)
		}
	}
}

// settle forgets what the events have replaced that were delivered.
func (k *viewKind) settle() {
	for _, i := range k.informers {
		if i.store != nil {
			clear(i.store.replaced)
		}
	}
}

func (v *View) watched() []schema.GroupVersionKind {
	kinds := make([]schema.GroupVersionKind, 0, len(v.kinds))
	for gvk := range v.kinds {
		kinds = append(kinds, gvk)
	}
	slices.SortFunc(kinds, objects.CompareKinds)
	return kinds
}

// Resync tells the handlers of everything that is there once more, as the periodic resync does.
func (v *View) Resync() {
	v.mu.Lock()
	var events []Event
	for _, gvk := range v.watched() {
		for _, key := range objects.SortedKeys(v.kinds[gvk].shown) {
			u := v.kinds[gvk].shown[key]
			events = append(events, Event{gvk: gvk, key: key, Before: u, After: u})
		}
	}
	v.mu.Unlock()
	v.deliver(events)
}

// changes are the events that lead from one state to the next.
func changes(gvk schema.GroupVersionKind, from, to world.Snapshot) []Event {
	var events []Event
	for _, key := range objects.SortedKeys(from) {
		before, after := from[key], to[key]
		switch {
		case after == nil:
			events = append(events, Event{gvk: gvk, key: key, Before: before})
		case after.GetUID() != before.GetUID():
			events = append(events, Event{gvk: gvk, key: key, Before: before}, Event{gvk: gvk, key: key, After: after})
		case after.GetResourceVersion() != before.GetResourceVersion():
			events = append(events, Event{gvk: gvk, key: key, Before: before, After: after})
		}
	}
	for _, key := range objects.SortedKeys(to) {
		if from[key] == nil {
			events = append(events, Event{gvk: gvk, key: key, After: to[key]})
		}
	}
	return events
}

func (v *View) deliver(events []Event) {
	for _, e := range events {
		v.mu.Lock()
		k := v.kinds[e.gvk]
		type delivery struct {
			handler       toolscache.ResourceEventHandler
			before, after any
		}
		var deliveries []delivery
		for _, as := range []representation{"typed", "metadata", "unstructured"} {
			i := k.informers[as]
			if i == nil {
				continue
			}
			var d delivery
			var err error
			if e.Before != nil {
				d.before, err = i.object(k, e.key, e.Before)
			}
			if e.After != nil && err == nil {
				d.after, err = i.object(k, e.key, e.After)
			}
			if err != nil || d.before == nil && d.after == nil {
				continue // what cannot be converted, no informer could have decoded either
			}
			for _, handler := range i.handlers {
				d.handler = handler
				deliveries = append(deliveries, d)
			}
		}
		v.mu.Unlock()
		for _, d := range deliveries {
			switch {
			case d.before == nil:
				d.handler.OnAdd(d.after, false)
			case d.after == nil:
				d.handler.OnDelete(d.before)
			default:
				d.handler.OnUpdate(d.before, d.after)
			}
		}
		if v.Delivered != nil {
			v.Delivered()
		}
	}
}
