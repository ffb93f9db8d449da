package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// watch tells of the changes of a kind from now on, in the representation of the list. An object that begins to be selected is told of
// as added, one that is no longer selected as deleted.
func (w *Server) watch(ctx context.Context, list client.ObjectList, opts []client.ListOption) (watch.Interface, error) {
	gvk, err := objects.ListedKind(list, w.scheme)
	if err != nil {
		return nil, err
	}
	selects, err := selection(opts)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tracker.register(gvk)
	stored := &unstructured.UnstructuredList{}
	stored.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	items, err := w.list(gvk)
	if err != nil {
		return nil, err
	}
	told := &watched{server: w, selects: selects, versions: map[types.UID]string{}, selected: map[types.UID]bool{}}
	for key, u := range items {
		told.versions[u.GetUID()], told.selected[u.GetUID()] = u.GetResourceVersion(), selects(key, u)
	}
	all, err := w.store.Watch(ctx, stored)
	if err != nil {
		return nil, err
	}
	return watch.Filter(all, func(e watch.Event) (watch.Event, bool) {
		w.mu.Lock() // until the write that made the event is complete: a dry run is undone by then
		defer w.mu.Unlock()
		return told.event(e, list, gvk)
	}), nil
}

// watched is what one watch has told of each object.
type watched struct {
	server   *Server
	selects  selects
	versions map[types.UID]string // gone for what is deleted
	selected map[types.UID]bool
}

const gone = "gone"

// event is what the watch tells of an event of the store, and whether it tells anything: not of dry runs, nor of how they are undone.
func (o *watched) event(e watch.Event, list client.ObjectList, gvk schema.GroupVersionKind) (watch.Event, bool) {
	stored, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return e, true
	}
	u := stored.DeepCopy()
	u.SetGroupVersionKind(gvk)
	uid, version, key := u.GetUID(), u.GetResourceVersion(), client.ObjectKeyFromObject(u)
	known := o.versions[uid]
	if o.server.dry[version] || known == gone || e.Type != watch.Deleted && version == known {
		return e, false
	}
	if e.Type == watch.Deleted {
		if current := o.server.current(gvk, key); current != nil && current.GetUID() == uid {
			return e, false
		}
		version = gone
	}
	before, now := o.selected[uid], o.selects(key, u)
	o.versions[uid], o.selected[uid] = version, now
	switch {
	case !before && !now || e.Type == watch.Deleted && !before:
		return e, false
	case !now:
		e.Type = watch.Deleted
	case !before:
		e.Type = watch.Added
	}
	var err error
	e.Object, err = o.server.represent(list, u)
	return e, err == nil
}

// represent is the object in the form of the items of a list.
func (w *Server) represent(list client.ObjectList, u *unstructured.Unstructured) (runtime.Object, error) {
	item, err := newItem(list, u.GroupVersionKind(), w.scheme)
	if err != nil {
		return nil, err
	}
	return item, objects.FromUnstructured(u, item)
}
