package groupkey

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Group is an owner that is no object of the cluster: a key under which several
// objects together determine children. Its namespace and name are the key, its
// UID must be the same in every process, and the kind of its TypeMeta tells it
// from groups of other controllers.
//
// The children of a group carry the part-of label and [apply.GroupAnnotation] instead
// of an owner reference. They may carry a controller reference that the plan
// gives them; one that somebody else gave them makes them somebody else's.
// There is no object to keep an inventory on, so that the members of the set
// are found by their label alone, in all namespaces and from the cache.
type Group interface {
	client.Object
	// ChildKinds are all kinds that the group's children may have. What a
	// group once had of other kinds is not pruned, unless [apply.Options.Kinds] has
	// them as retired.
	ChildKinds() []schema.GroupVersionKind
}
