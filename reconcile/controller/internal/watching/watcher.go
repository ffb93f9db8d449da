package watching

import (
	"context"
	"slices"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

// Queue is the queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// PriorityEdit is the priority of an owner that a user has edited or deleted. It precedes all waiting owners: other events have
// priority 0, those of initial lists and resyncs have less. Package queue ranks owners of one priority by their namespaces.
const PriorityEdit = 100

// Groups are owners that are not objects.
type Groups interface {
	// Revive records that an event has concerned the group since its last pass.
	Revive(key types.NamespacedName)
	// OfChild returns the keys of the groups that own or share the object.
	OfChild(object client.Object) []types.NamespacedName
}

// Watcher maps the events of one kind to owners. An event concerns an owner if the object is the owner, or if the owner controls or
// has read the object, or if a mapping names the owner. The watcher enqueues each owner once.
type Watcher struct {
	Logger   logr.Logger
	Kind     *declaration.Kind
	Owner    *declaration.Kind // the reconciled kind
	Tracker  *tracking.Tracker
	Triggers *trigger.Triggers
	Groups   Groups                // the reconciled groups; nil for owners that are objects
	Statuses *trigger.StatusWrites // of the owners
	Requests *trigger.Requests     // of reconciliations of the owners; nil does not limit them
	stop     context.CancelFunc    // of the running watch of an optional kind, nil while the kind is absent

	Announce func(before, after client.Object) // passes children to the engine; nil if there are none
	Owners   func(owner client.Object)         // passes owners to the engine; nil if there are none
	Left     func(owner types.NamespacedName)  // receives finalized owners that left the cache; nil if the cache has all
}

// tell passes an object to the engine before it can trigger a pass.
func (w *Watcher) tell(before, after client.Object) {
	if w.Announce != nil {
		w.Announce(before, after)
	}
	if w.Owners != nil && after != nil {
		w.Owners(after)
	}
}

// Handler returns a handler for controller-runtime, which lowers the priority of objects of the initial list and of a resync.
func (w *Watcher) Handler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: w.create, UpdateFunc: w.update, DeleteFunc: w.delete, GenericFunc: w.generic,
	}
}

// Source returns the source of the events of the kind. It links a sparsely cached kind to its informers.
func (w *Watcher) Source(c cache.Cache) source.SyncingSource {
	if w.Kind.Link != nil {
		c = sparse.Cache{Cache: c, Link: w.Kind.Link}
	}
	return source.Kind(c, w.Kind.Object, w.Handler())
}

func (w *Watcher) create(ctx context.Context, e event.CreateEvent, q Queue) {
	w.Kind.Seen.See(e.Object)
	w.Kind.CheckFilter(w.Logger, e.Object)
	w.tell(nil, e.Object)
	w.enqueue(ctx, q, trigger.Change{Event: trigger.EventCreate, After: e.Object, Initial: e.IsInInitialList}, func(p predicate.Predicate) bool {
		return p.Create(e)
	})
}

func (w *Watcher) update(ctx context.Context, e event.UpdateEvent, q Queue) {
	w.Kind.Seen.See(e.ObjectNew)
	w.tell(e.ObjectOld, e.ObjectNew)
	w.enqueue(ctx, q, trigger.Change{Event: trigger.EventUpdate, Before: e.ObjectOld, After: e.ObjectNew}, func(p predicate.Predicate) bool {
		return p.Update(e)
	})
}

func (w *Watcher) delete(ctx context.Context, e event.DeleteEvent, q Queue) {
	w.Kind.Seen.See(e.Object)
	w.Kind.Panics.Forget(e.Object)
	if w.Kind == w.Owner {
		w.Statuses.Forget(client.ObjectKeyFromObject(e.Object))
		w.Requests.Forget(client.ObjectKeyFromObject(e.Object))
		if w.Left != nil && w.Kind.Finalizes(e.Object) {
			w.Left(client.ObjectKeyFromObject(e.Object))
		}
	}
	w.enqueue(ctx, q, trigger.Change{Event: trigger.EventDelete, Before: e.Object}, func(p predicate.Predicate) bool {
		return p.Delete(e)
	})
}

func (w *Watcher) generic(ctx context.Context, e event.GenericEvent, q Queue) {
	w.enqueue(ctx, q, trigger.Change{Event: trigger.EventGeneric, After: e.Object}, func(p predicate.Predicate) bool {
		return p.Generic(e)
	})
}

func (w *Watcher) enqueue(ctx context.Context, q Queue, c trigger.Change, passes func(predicate.Predicate) bool) {
	if c.Last() == nil {
		return
	}
	for _, owner := range w.concerned(ctx, c, passes) {
		w.wake(q, owner, c)
	}
	if w.Kind == w.Owner && w.all(c, w.Kind.When, passes) && !w.wakesItself(c) && trigger.MayBeForeign(c) && w.Kind.Reconciles(c.After) {
		self := client.ObjectKeyFromObject(c.After)
		w.Statuses.Event(self, c.After.GetResourceVersion(), func() { w.wake(q, self, c) })
	}
}

func (w *Watcher) wake(q Queue, owner types.NamespacedName, c trigger.Change) {
	if w.Groups != nil {
		w.Groups.Revive(owner)
	}
	w.Triggers.Note(owner, w.Kind.GroupVersionKind, c)
	if w.Triggers.Changed != nil && w.itself(owner, c) && trigger.Respecified(c) {
		w.Triggers.Changed(owner, c.After.GetGeneration())
	}
	request := ctrl.Request{NamespacedName: owner}
	if !w.edited(owner, c) {
		q.Add(request)
		return
	}
	w.Triggers.NoteEdit(owner)
	delay := w.Requests.Delay(owner, c)
	if prioritised, ok := q.(priorityqueue.PriorityQueue[ctrl.Request]); ok {
		prioritised.AddWithOpts(priorityqueue.AddOpts{Priority: new(PriorityEdit), After: delay}, request)
		return
	}
	q.AddAfter(request, delay) // the manager does not use priorities
}

// edited reports whether the event is an edit of the owner.
func (w *Watcher) edited(owner types.NamespacedName, c trigger.Change) bool {
	return w.itself(owner, c) && trigger.Edited(c)
}

// itself reports whether the event is of the owner itself.
func (w *Watcher) itself(owner types.NamespacedName, c trigger.Change) bool {
	return w.Kind == w.Owner && owner == client.ObjectKeyFromObject(c.Last())
}

// concerned returns the owners of an event, sorted and without duplicates.
func (w *Watcher) concerned(
	ctx context.Context, c trigger.Change, passes func(predicate.Predicate) bool,
) []types.NamespacedName {
	objects := c.Objects()
	var found []types.NamespacedName
	if w.all(c, w.Kind.When, passes) {
		found = w.related(c, objects)
	}
	found = w.derived(ctx, found, c)
	for _, d := range w.Kind.Declarations {
		if d.Mapping == nil || !w.all(c, d.Predicates, passes) {
			continue
		}
		for _, object := range objects {
			w.Kind.Panics.Guard(declaration.FunctionMapping, d.Source, object, func() {
				for _, request := range d.Mapping(ctx, object) {
					found = append(found, request.NamespacedName)
				}
			})
		}
	}
	return tracking.Unique(found)
}

// related returns the owners that are one of the objects, or that control or read one.
func (w *Watcher) related(c trigger.Change, objects []client.Object) []types.NamespacedName {
	found := w.Tracker.Concerned(w.Kind.Index, objects...)
	if w.Kind == w.Owner {
		self := client.ObjectKeyFromObject(c.Last())
		// An owner that reads its own kind is not enqueued by its own status.
		found = slices.DeleteFunc(found, func(name types.NamespacedName) bool { return name == self })
		if w.wakesItself(c) && w.concernsOwner(c) {
			found = append(found, self)
		}
	}
	if w.Kind.Has(declaration.PurposeOwns) && !c.Resync() {
		for _, object := range objects {
			found = appendController(found, object, w.Owner)
		}
	}
	if w.Groups != nil && w.Kind.Has(declaration.PurposeOwns, declaration.PurposeWrites) {
		for _, object := range objects {
			found = append(found, w.Groups.OfChild(object)...)
		}
	}
	return found
}

// wakesItself reports whether the event of an owner enqueues it: an event that the controller's own status write does not cause, or one
// that starts or ends its selection.
func (w *Watcher) wakesItself(c trigger.Change) bool {
	return trigger.WakesItself(c) || w.Kind.Selective() && w.Kind.Reconciles(c.Before) != w.Kind.Reconciles(c.After)
}

// concernsOwner reports whether the controller has or had work for an owner. It releases an owner that is no longer selected.
func (w *Watcher) concernsOwner(c trigger.Change) bool {
	return slices.ContainsFunc(c.Objects(), func(o client.Object) bool { return w.Kind.Reconciles(o) || w.Kind.Finalizes(o) })
}

// all reports whether the event passes all predicates. An event passes a predicate that panics, because an unnecessary pass is harmless.
func (w *Watcher) all(c trigger.Change, predicates []predicate.Predicate, passes func(predicate.Predicate) bool) bool {
	return !slices.ContainsFunc(predicates, func(p predicate.Predicate) (stops bool) {
		return w.Kind.Panics.Guard(declaration.FunctionPredicates, "", c.Last(), func() { stops = !passes(p) }) && stops
	})
}

// appendController appends the owner that controls the object, if it is of the reconciled kind in any version.
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

// derived appends the owners that read a value that the event has changed. It ignores the predicates of the kind, which
// apply to owners that read its objects.
func (w *Watcher) derived(ctx context.Context, found []types.NamespacedName, c trigger.Change) []types.NamespacedName {
	if c.Event == trigger.EventGeneric || c.Resync() {
		return found
	}
	return w.Tracker.Changed(ctx, found, w.Kind.Index, c.Objects()...)
}
