package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
)

// watch tells of the changes of a kind from now on, in the representation of the list.
func (w *Server) watch(ctx context.Context, list client.ObjectList, opts []client.ListOption) (watch.Interface, error) {
	gvk, err := objects.ListedKind(list, w.scheme)
	if err != nil {
		return nil, err
	}
	w.tracker.register(gvk)
	stored := &unstructured.UnstructuredList{}
	stored.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	var options client.ListOptions
	options.ApplyOptions(opts)
	all, err := w.store.Watch(ctx, stored, client.InNamespace(options.Namespace))
	if err != nil {
		return nil, err
	}
	told := map[types.UID]string{}
	return watch.Filter(all, func(e watch.Event) (watch.Event, bool) {
		w.mu.Lock() // until the write that made the event is complete: a dry run is undone by then
		defer w.mu.Unlock()
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			return e, true
		}
		u = u.DeepCopy()
		u.SetGroupVersionKind(gvk)
		version, before := u.GetResourceVersion(), told[u.GetUID()]
		if w.dry[version] || version == before && e.Type != watch.Deleted {
			return e, false
		}
		told[u.GetUID()] = version
		if options.LabelSelector != nil && !options.LabelSelector.Matches(objects.Labels(u)) {
			return e, false
		}
		var err error
		e.Object, err = w.represent(list, u)
		return e, err == nil
	}), nil
}

// represent is the object in the form of the items of a list.
func (w *Server) represent(list client.ObjectList, u *unstructured.Unstructured) (runtime.Object, error) {
	item, err := newItem(list, u.GroupVersionKind(), w.scheme)
	if err != nil {
		return nil, err
	}
	return item, objects.FromUnstructured(u, item)
}
