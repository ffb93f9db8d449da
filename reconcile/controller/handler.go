package controller

import (
	"context"
	"maps"
	"slices"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
)

type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// watcher turns the events of one kind into owners. All reasons for which an owner may be concerned come together here,
// so that one event enqueues it once: it is the owner itself, it controls the object, it read it, or a mapping names it.
type watcher struct {
	logger   logr.Logger
	kind     *declaration.Kind
	owner    *declaration.Kind // the reconciled kind
	tracker  *tracking.Tracker
	wakes    *wakes
	board    *board             // of the groups that are reconciled, nil for objects
	statuses *statusWrites      // of the owners
	stop     context.CancelFunc // of the running watch of an optional kind, nil while it is absent

	announce func(before, after client.Object) // tells the engine of children; nil where there are none
	owners   func(owner client.Object)         // tells the engine of owners; nil where there are none
}

// tell lets the engine know of an object before a pass can follow from it.
func (w *watcher) tell(before, after client.Object) {
	if w.announce != nil {
		w.announce(before, after)
	}
	if w.owners != nil && after != nil {
		w.owners(after)
	}
}

// handler wraps the watcher for controller-runtime, which lowers the priority of what is no news: the objects of the
// initial list and those of a resync.
func (w *watcher) handler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: w.create, UpdateFunc: w.update, DeleteFunc: w.delete, GenericFunc: w.generic,
	}
}

func (w *watcher) create(ctx context.Context, e event.CreateEvent, q queue) {
	w.kind.Seen.See(e.Object)
	w.kind.CheckFilter(w.logger, e.Object)
	w.tell(nil, e.Object)
	w.enqueue(ctx, q, change{event: eventCreate, after: e.Object, initial: e.IsInInitialList}, func(p predicate.Predicate) bool {
		return p.Create(e)
	})
}

func (w *watcher) update(ctx context.Context, e event.UpdateEvent, q queue) {
	w.kind.Seen.See(e.ObjectNew)
	w.tell(e.ObjectOld, e.ObjectNew)
	w.enqueue(ctx, q, change{event: eventUpdate, before: e.ObjectOld, after: e.ObjectNew}, func(p predicate.Predicate) bool {
		return p.Update(e)
	})
}

func (w *watcher) delete(ctx context.Context, e event.DeleteEvent, q queue) {
	w.kind.Seen.See(e.Object)
	if w.kind == w.owner {
		w.statuses.forget(client.ObjectKeyFromObject(e.Object))
	}
	w.enqueue(ctx, q, change{event: eventDelete, before: e.Object}, func(p predicate.Predicate) bool {
		return p.Delete(e)
	})
}

func (w *watcher) generic(ctx context.Context, e event.GenericEvent, q queue) {
	w.enqueue(ctx, q, change{event: eventGeneric, after: e.Object}, func(p predicate.Predicate) bool {
		return p.Generic(e)
	})
}

// change is an event: an object before and after, one of them nil where there is none.
type change struct {
	event         string
	before, after client.Object
	initial       bool
}

const (
	eventCreate  = "create"
	eventUpdate  = "update"
	eventDelete  = "delete"
	eventGeneric = "generic"
	// An optional kind appeared or went.
	eventInstalled = "installed"
	eventRemoved   = "removed"
)

func (c change) objects() []client.Object {
	return slices.DeleteFunc([]client.Object{c.before, c.after}, func(o client.Object) bool { return o == nil })
}

// last is the object as it is now or was last.
func (c change) last() client.Object {
	if c.after != nil {
		return c.after
	}
	return c.before
}

// resync tells the periodic repetition of what is known from news.
func (c change) resync() bool {
	return c.before != nil && c.after != nil && c.before.GetResourceVersion() == c.after.GetResourceVersion()
}

func (w *watcher) enqueue(ctx context.Context, q queue, c change, passes func(predicate.Predicate) bool) {
	if c.last() == nil {
		return
	}
	for _, owner := range w.concerned(ctx, c, passes) {
		w.wake(q, owner, c)
	}
	if w.kind == w.owner && all(w.kind.When, passes) && !wakesItself(c) && mayBeForeign(c) {
		self := client.ObjectKeyFromObject(c.after)
		w.statuses.event(self, c.after.GetResourceVersion(), func() { w.wake(q, self, c) })
	}
}

func (w *watcher) wake(q queue, owner types.NamespacedName, c change) {
	if w.board != nil {
		w.board.revive(owner)
	}
	w.wakes.note(owner, w.kind.GroupVersionKind, c)
	q.Add(ctrl.Request{NamespacedName: owner})
}

// concerned returns the owners of an event, sorted, each once.
func (w *watcher) concerned(
	ctx context.Context, c change, passes func(predicate.Predicate) bool,
) []types.NamespacedName {
	objects := c.objects()
	var found []types.NamespacedName
	if all(w.kind.When, passes) {
		found = w.related(c, objects)
	}
	found = w.derived(ctx, found, c)
	for _, d := range w.kind.Declarations {
		if d.Mapping == nil || !all(d.Predicates, passes) {
			continue
		}
		for _, object := range objects {
			for _, request := range d.Mapping(ctx, object) {
				found = append(found, request.NamespacedName)
			}
		}
	}
	return tracking.Unique(found)
}

// related returns the owners that read one of the objects, control it or are it.
func (w *watcher) related(c change, objects []client.Object) []types.NamespacedName {
	found := w.tracker.Concerned(w.kind.Index, objects...)
	if w.kind == w.owner {
		self := client.ObjectKeyFromObject(c.last())
		// An owner that reads its own kind does not read its own status back.
		found = slices.DeleteFunc(found, func(name types.NamespacedName) bool { return name == self })
		if wakesItself(c) {
			found = append(found, self)
		}
	}
	if w.kind.Has(declaration.PurposeOwns) && !c.resync() {
		for _, object := range objects {
			found = appendController(found, object, w.owner)
		}
	}
	if w.board != nil && w.kind.Has(declaration.PurposeOwns, declaration.PurposeWrites) {
		for _, object := range objects {
			found = append(found, groupsOfChild(w.board.name, object)...)
		}
	}
	return found
}

func all(predicates []predicate.Predicate, passes func(predicate.Predicate) bool) bool {
	return !slices.ContainsFunc(predicates, func(p predicate.Predicate) bool { return !passes(p) })
}

// wakesItself reports whether a change of the owner needs a pass, whoever made it: of its spec, or of metadata that the engine
// or a phase may read.
func wakesItself(c change) bool {
	if c.before == nil || c.after == nil || c.resync() {
		return true
	}
	before, after := c.before, c.after
	return before.GetGeneration() != after.GetGeneration() ||
		before.GetUID() != after.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!slices.Equal(before.GetFinalizers(), after.GetFinalizers())
}

// mayBeForeign reports whether a change of the owner needs a pass unless it is the controller's own write: of its status, or of
// anything where the kind has no generation.
func mayBeForeign(c change) bool {
	return c.after.GetGeneration() == 0 || statusChanged(c.before, c.after)
}

// appendController appends the owner that controls the object, if it is of the reconciled kind in whatever version.
func appendController(found []types.NamespacedName, object client.Object, owner *declaration.Kind) []types.NamespacedName {
	reference := metav1.GetControllerOfNoCopy(object)
	if reference == nil || reference.Kind != owner.Kind {
		return found
	}
	version, err := schema.ParseGroupVersion(reference.APIVersion)
	if err != nil || version.Group != owner.Group {
		return found
	}
	return append(found, owner.Name(types.NamespacedName{Namespace: object.GetNamespace(), Name: reference.Name}))
}
