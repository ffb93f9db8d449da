package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
)

// NewSingleton starts the declaration of a controller for something that there is once in a cluster and that no object
// stands for, such as a server that the operator's environment asks for. Its owner is a [Group] without members, whose name
// is that of the controller and which has no namespace: children that have one name it.
//
// The first pass runs when the controller starts; every further one is woken by what the pass before has read or planned,
// as that of any owner. There is no object to keep an inventory on. Children carry the part-of label and the annotation
// [apply.GroupAnnotation], which lead from each of them to the singleton; what is no longer planned is found by the label
// in the cache, in all namespaces, for the kinds that [Builder.Owns] declares. Two limits follow from that: children of a
// kind that a later version makes no more are pruned only if it declares the kind as [Retired], and nothing deletes
// the children when the controller is not set up any more. A singleton that can be switched off is still set up then, and
// plans its children away, with the policy [apply.Withdraw], as nothing tells the guard after a restart that this is meant.
//
// A singleton has conditions like any owner, kept in memory: transitions are logged, and other controllers of the process
// read them with [Builder.Joins] and [GroupOf] under [SingletonKey]. It announces no events, for there is no object to
// announce them for.
func NewSingleton[R reconcile.Reconciler[*Group, F, O], F, O any](name string, reconciler R) *Builder {
	b := declare(name, typed[*Group, F, O]{reconciler}, GroupOf(name), declaration.Caller())
	b.store = groups.NewStore(name)
	b.store.Single = true
	return b
}

// SingletonKey is the key of the singleton of the controller of that name.
func SingletonKey(name string) types.NamespacedName { return groups.SingletonKey(name) }
