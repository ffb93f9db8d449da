package trigger

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

// Trigger has the cause of a pass: the first event since the last pass, and the number of later events.
type Trigger struct {
	Event   string
	Kind    schema.GroupVersionKind
	Object  types.NamespacedName
	Manager string // of the changed fields; empty if unknown
	More    int
	Edit    bool            // one of the events is an edit of the owner itself
	Events  []objectVersion // all events, up to a limit
}

// Triggers keeps the events of the owners that wait in the queue.
type Triggers struct {
	// Changed receives owners that were created or whose spec has changed, with their generation. Optional.
	Changed func(owner types.NamespacedName, generation int64)

	mu    sync.Mutex
	first map[types.NamespacedName]Trigger
}

// Note records an event that enqueues the owner.
func (w *Triggers) Note(owner types.NamespacedName, gvk schema.GroupVersionKind, c Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first, known := w.first[owner]; known {
		first.More++
		first.add(gvk, c)
		w.first[owner] = first
		return
	}
	if w.first == nil {
		w.first = map[types.NamespacedName]Trigger{}
	}
	first := Trigger{
		Event: c.Event, Kind: gvk, Object: client.ObjectKeyFromObject(c.Last()), Manager: changedBy(c.Before, c.After),
	}
	first.add(gvk, c)
	w.first[owner] = first
}

// add records the object of the event and its version.
func (w *Trigger) add(gvk schema.GroupVersionKind, c Change) {
	if len(w.Events) >= maxRemembered {
		return
	}
	o := c.Last()
	e := objectVersion{kind: gvk.GroupKind(), key: client.ObjectKeyFromObject(o), uid: o.GetUID()}
	if c.After != nil && o.GetDeletionTimestamp().IsZero() {
		e.version = o.GetResourceVersion()
	}
	w.Events = append(w.Events, e)
}

// NoteEdit records that the owner itself was edited.
func (w *Triggers) NoteEdit(owner types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first, known := w.first[owner]; known {
		first.Edit = true
		w.first[owner] = first
	}
}

// Take returns and clears the trigger of the owner. It reports false for a requeue, which has no event.
func (w *Triggers) Take(owner types.NamespacedName) (Trigger, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first, known := w.first[owner]
	delete(w.first, owner)
	return first, known
}

// Waiting reports whether an event of the owner waits in the queue, and of how many other owners one does.
func (w *Triggers) Waiting(owner types.NamespacedName) (others int, waits bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	others = len(w.first)
	if _, waits = w.first[owner]; waits {
		others--
	}
	return others, waits
}

// Return puts back the trigger of a pass that is deferred, before the events since then.
func (w *Triggers) Return(owner types.NamespacedName, first Trigger) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if later, known := w.first[owner]; known {
		first.More += later.More + 1
		first.Edit = first.Edit || later.Edit
		first.Events = slices.Concat(first.Events, later.Events)
		first.Events = first.Events[:min(len(first.Events), maxRemembered)]
	}
	if w.first == nil {
		w.first = map[types.NamespacedName]Trigger{}
	}
	w.first[owner] = first
}

// Log logs the trigger of the pass at V(1).
func (w Trigger) Log(logger logr.Logger) {
	logger.V(1).Info("triggered", "event", w.Event, "kind", declaration.Print(w.Kind),
		"by", klog.KRef(w.Object.Namespace, w.Object.Name), "fieldManager", w.Manager, "more", w.More)
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
