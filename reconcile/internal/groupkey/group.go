package groupkey

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Group is an owner without an object in the cluster: a key under which several objects together determine children. Its namespace and
// name are the key, its UID must be the same in every process, and the kind of its TypeMeta distinguishes it from groups of other
// controllers.
//
// The children of a group have the part-of label and [apply.GroupAnnotation] instead of an owner reference. A plan may give them a
// controller reference; with another controller reference they belong to that controller. There is no object for an inventory, so the
// members of the set are found only by their label, in all namespaces and from the cache.
type Group interface {
	client.Object
	// ChildKinds returns all kinds that the group's children may have. Children of former kinds are not pruned unless [apply.Options.Kinds]
	// lists them as retired.
	ChildKinds() []schema.GroupVersionKind
}
