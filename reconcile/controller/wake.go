package controller

import (
	"slices"
	"sync"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// wake is what woke a pass: the first event since the last one, and how many came after it.
type wake struct {
	event   string
	kind    schema.GroupVersionKind
	object  types.NamespacedName
	manager string // of the fields that changed; empty when that cannot be told
	more    int
	events  []objectVersion // all of them, as far as they are remembered
}

// wakes keeps the wakes of the owners that wait in the queue.
type wakes struct {
	mu    sync.Mutex
	first map[types.NamespacedName]wake
}

func (w *wakes) note(owner types.NamespacedName, gvk schema.GroupVersionKind, c change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first, known := w.first[owner]; known {
		first.more++
		first.add(gvk, c)
		w.first[owner] = first
		return
	}
	if w.first == nil {
		w.first = map[types.NamespacedName]wake{}
	}
	first := wake{
		event: c.event, kind: gvk, object: client.ObjectKeyFromObject(c.last()), manager: changedBy(c.before, c.after),
	}
	first.add(gvk, c)
	w.first[owner] = first
}

// add remembers which object the event is about, in which version.
func (w *wake) add(gvk schema.GroupVersionKind, c change) {
	if len(w.events) >= maxRemembered {
		return
	}
	o := c.last()
	e := objectVersion{kind: gvk.GroupKind(), key: client.ObjectKeyFromObject(o), uid: o.GetUID()}
	if c.after != nil && o.GetDeletionTimestamp().IsZero() {
		e.version = o.GetResourceVersion()
	}
	w.events = append(w.events, e)
}

// take returns what woke the owner and starts anew; a requeue was woken by nothing.
func (w *wakes) take(owner types.NamespacedName) (wake, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, known := w.first[owner]
	delete(w.first, owner)
	return first, known
}

// log reports what woke the pass, at V(1).
func (w wake) log(logger logr.Logger) {
	logger.V(1).Info("woken", "event", w.event, "kind", declaration.Print(w.kind),
		"by", klog.KRef(w.object.Namespace, w.object.Name), "fieldManager", w.manager, "more", w.more)
}

// changedBy returns the field manager of the latest entry that the change added or touched.
func changedBy(before, after client.Object) string {
	if after == nil {
		return ""
	}
	var known []metav1.ManagedFieldsEntry
	if before != nil {
		known = before.GetManagedFields()
	}
	var last *metav1.ManagedFieldsEntry
	entries := after.GetManagedFields()
	for i := range entries {
		entry := &entries[i]
		if slices.ContainsFunc(known, func(e metav1.ManagedFieldsEntry) bool { return sameEntry(&e, entry) }) {
			continue
		}
		if last == nil || !entry.Time.Before(last.Time) {
			last = entry
		}
	}
	if last == nil {
		return ""
	}
	return last.Manager
}

func sameEntry(a, b *metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource && a.Time.Equal(b.Time)
}
