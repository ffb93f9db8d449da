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
)

var _ cache.Informer = (*informer)(nil)

func (*registration) HasSynced() bool { return true }

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
	gvk, err := apiutil.GVKForObject(obj, v.cluster.Scheme)
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
	if v.cluster.Scheme.Recognizes(gvk) {
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

// informerOf returns the informer of a kind and creates it on first use.
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

// storeOf returns the store of a kind whose informer reduces objects, nil for one that keeps entire objects.
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

// RemoveInformer removes the informer of a kind in the representation of the object.
func (v *View) RemoveInformer(_ context.Context, obj client.Object) error {
	gvk, err := apiutil.GVKForObject(obj, v.cluster.Scheme)
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

// object returns a version of an object for the handlers of the informer, nil if it does not contain the object.
func (i *informer) object(k *viewKind, key types.NamespacedName, u *unstructured.Unstructured) (any, error) {
	if i.store != nil {
		return i.store.of(key, u), nil
	}
	return i.view.object(k, i.gvk, i.as, u)
}

// AddEventHandlerWithResyncPeriod implements cache.Informer. There is no periodic resync.
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

// AddIndexers implements cache.Informer. Use IndexField to add indexes.
func (*informer) AddIndexers(toolscache.Indexers) error {
	return errors.New("this cache has no indexers: use IndexField")
}

func (*informer) HasSynced() bool { return true }

func (*informer) HasSyncedChecker() toolscache.DoneChecker { return synced{} }

func (*informer) IsStopped() bool { return false }

// Begin records that Setup has returned and informers run.
func (v *View) Begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.begun = true
	for _, k := range v.kinds {
		for _, i := range k.informers {
			if i.store != nil {
				i.store.Begin()
			}
		}
	}
}
