package controller

import (
	"context"
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
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// watcher turns the events of one kind into owners. All reasons for which an owner may be concerned come together here,
// so that one event enqueues it once: it is the owner itself, it controls the object, it read it, or a mapping names it.
type watcher struct {
	logger   logr.Logger
	kind     *declaration.Kind
	owner    *declaration.Kind // the reconciled kind
	tracker  *tracking.Tracker
	wakes    *trigger.Triggers
	board    *board                // of the groups that are reconciled, nil for objects
	statuses *trigger.StatusWrites // of the owners
	stop     context.CancelFunc    // of the running watch of an optional kind, nil while it is absent

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
	w.enqueue(ctx, q, trigger.Change{Event: trigger.EventCreate, After: e.Object, Initial: e.IsInInitialList}, func(p predicate.Predicate) bool {
		return p.Create(e)
	})
}

func (w *watcher) update(ctx context.Context, e event.UpdateEvent, q queue) {
	w.kind.Seen.See(e.ObjectNew)
	w.tell(e.ObjectOld, e.ObjectNew)
	w.enqueue(ctx, q, trigger.Change{Event: trigger.EventUpdate, Before: e.ObjectOld, After: e.ObjectNew}, func(p predicate.Predicate) bool {
		return p.Update(e)
	})
}

func (w *watcher) delete(ctx context.Context, e event.DeleteEvent, q queue) {
	w.kind.Seen.See(e.Object)
	if w.kind == w.owner {
		w.statuses.Forget(client.ObjectKeyFromObject(e.Object))
	}
	w.enqueue(ctx, q, trigger.Change{Event: trigger.EventDelete, Before: e.Object}, func(p predicate.Predicate) bool {
		return p.Delete(e)
	})
}

func (w *watcher) generic(ctx context.Context, e event.GenericEvent, q queue) {
	w.enqueue(ctx, q, trigger.Change{Event: trigger.EventGeneric, After: e.Object}, func(p predicate.Predicate) bool {
		return p.Generic(e)
	})
}

func (w *watcher) enqueue(ctx context.Context, q queue, c trigger.Change, passes func(predicate.Predicate) bool) {
	if c.Last() == nil {
		return
	}
	for _, owner := range w.concerned(ctx, c, passes) {
		w.wake(q, owner, c)
	}
	if w.kind == w.owner && all(w.kind.When, passes) && !trigger.WakesItself(c) && trigger.MayBeForeign(c) {
		self := client.ObjectKeyFromObject(c.After)
		w.statuses.Event(self, c.After.GetResourceVersion(), func() { w.wake(q, self, c) })
	}
}

func (w *watcher) wake(q queue, owner types.NamespacedName, c trigger.Change) {
	if w.board != nil {
		w.board.revive(owner)
	}
	w.wakes.Note(owner, w.kind.GroupVersionKind, c)
	q.Add(ctrl.Request{NamespacedName: owner})
}

// concerned returns the owners of an event, sorted, each once.
func (w *watcher) concerned(
	ctx context.Context, c trigger.Change, passes func(predicate.Predicate) bool,
) []types.NamespacedName {
	objects := c.Objects()
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
func (w *watcher) related(c trigger.Change, objects []client.Object) []types.NamespacedName {
	found := w.tracker.Concerned(w.kind.Index, objects...)
	if w.kind == w.owner {
		self := client.ObjectKeyFromObject(c.Last())
		// An owner that reads its own kind does not read its own status back.
		found = slices.DeleteFunc(found, func(name types.NamespacedName) bool { return name == self })
		if trigger.WakesItself(c) {
			found = append(found, self)
		}
	}
	if w.kind.Has(declaration.PurposeOwns) && !c.Resync() {
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

// derived appends the owners that read a value which the event has changed. The predicates of the kind do not matter: they
// are about owners that read its objects.
func (w *watcher) derived(ctx context.Context, found []types.NamespacedName, c trigger.Change) []types.NamespacedName {
	if c.Event == trigger.EventGeneric || c.Resync() {
		return found
	}
	return w.tracker.Changed(ctx, found, w.kind.Index, client.ObjectKeyFromObject(c.Last()))
}
