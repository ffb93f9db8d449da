package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
)

// NewSingleton starts the declaration of a controller for objects that exist once in a cluster and that no object
// represents, such as a server that the operator's environment requests. Its owner is a [Group] without members. The group
// has the name of the controller and no namespace: namespaced children must set theirs.
//
// The first reconciliation runs when the controller starts. Later ones are triggered by the objects that it reads or plans,
// as for any owner. No object stores an inventory. Children have the part-of label and the annotation
// [apply.GroupAnnotation], which identify the singleton. The engine finds unplanned children by the label in the cache, in
// all namespaces, for the kinds that [Builder.Owns] declares. This has two limits. Children of a kind that a later version
// no longer creates are pruned only if it declares the kind as [Retired]. Nothing deletes the children when the controller
// is no longer set up. To disable a singleton, keep its set-up and plan the removal of its children with the policy
// [apply.Withdraw]: after a restart the guard cannot detect otherwise that the removal is intended.
//
// A singleton has conditions like any owner, which are kept in memory. Transitions are logged, and other controllers of the
// process read them with [Builder.Joins] and [GroupOf] under [SingletonKey]. It emits no events, because they need an
// object.
func NewSingleton[R reconcile.Reconciler[*Group, F, O], F, O any](name string, reconciler R) *Builder {
	b := declare(name, typed[*Group, F, O]{reconciler}, GroupOf(name), declaration.Caller())
	b.store = groups.NewStore(name)
	b.store.Single = true
	return b
}

// SingletonKey returns the key of the singleton of the controller with the name.
func SingletonKey(name string) types.NamespacedName { return groups.SingletonKey(name) }
