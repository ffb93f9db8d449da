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

// watch reports the changes of a kind from now on, in the representation of the list. An object that starts to match the selector is
// reported as added, one that no longer matches as deleted.
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
	events := &watched{server: w, selects: selects, versions: map[types.UID]string{}, selected: map[types.UID]bool{}}
	for key, u := range items {
		events.versions[u.GetUID()], events.selected[u.GetUID()] = u.GetResourceVersion(), selects(key, u)
	}
	all, err := w.store.Watch(ctx, stored)
	if err != nil {
		return nil, err
	}
	return watch.Filter(all, func(e watch.Event) (watch.Event, bool) {
		w.mu.Lock() // wait until the write is complete: a dry run is reverted then
		defer w.mu.Unlock()
		return events.event(e, list, gvk)
	}), nil
}

// watched records the objects that one watch has reported.
type watched struct {
	server   *Server
	selects  selects
	versions map[types.UID]string // gone for deleted objects
	selected map[types.UID]bool
}

const gone = "gone"

// event converts an event of the store, and reports whether the watch reports it: it omits dry runs and their reversal.
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

// represent returns the object in the representation of the list's items.
func (w *Server) represent(list client.ObjectList, u *unstructured.Unstructured) (runtime.Object, error) {
	item, err := newItem(list, u.GroupVersionKind(), w.scheme)
	if err != nil {
		return nil, err
	}
	return item, objects.FromUnstructured(u, item)
}
