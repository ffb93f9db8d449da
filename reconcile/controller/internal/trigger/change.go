package trigger

import (
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Change is an event: an object before and after, one of them nil if it does not exist.
type Change struct {
	Event         string
	Before, After client.Object
	Initial       bool
}

const (
	EventCreate  = "create"
	EventUpdate  = "update"
	EventDelete  = "delete"
	EventGeneric = "generic"
	// EventInstalled and EventRemoved report that an optional kind was installed or removed.
	EventInstalled = "installed"
	EventRemoved   = "removed"
)

// Objects returns the object before and after the event, without nil.
func (c Change) Objects() []client.Object {
	return slices.DeleteFunc([]client.Object{c.Before, c.After}, func(o client.Object) bool { return o == nil })
}

// Last returns the latest known version of the object.
func (c Change) Last() client.Object {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

// Resync reports whether the event is a periodic resync of a known object.
func (c Change) Resync() bool {
	return c.Before != nil && c.After != nil && c.Before.GetResourceVersion() == c.After.GetResourceVersion()
}

// WakesItself reports whether a change of the owner needs a pass, regardless of its author: a change of the spec, or of metadata that the
// engine or a phase may read.
func WakesItself(c Change) bool {
	if c.Before == nil || c.After == nil || c.Resync() {
		return true
	}
	before, after := c.Before, c.After
	return before.GetGeneration() != after.GetGeneration() ||
		before.GetUID() != after.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		!pipeline.SameAnnotations(before.GetAnnotations(), after.GetAnnotations()) ||
		!slices.Equal(before.GetFinalizers(), after.GetFinalizers())
}

// Edited reports whether a user has edited or deleted an owner that was known before. The engine's first write, which adds the
// finalizer, is not an edit.
func Edited(c Change) bool {
	return c.Before != nil && c.After != nil && !c.Resync() && WakesItself(c) &&
		(!c.After.GetDeletionTimestamp().IsZero() || slices.Equal(c.Before.GetFinalizers(), c.After.GetFinalizers()))
}

// Respecified reports whether the owner was created or its spec has changed while this process watches it. An owner that is being deleted
// has no spec that it could be ready with.
func Respecified(c Change) bool {
	if c.After == nil || !c.After.GetDeletionTimestamp().IsZero() || c.Initial {
		return false
	}
	return c.Before == nil || c.Before.GetUID() != c.After.GetUID() || c.Before.GetGeneration() != c.After.GetGeneration()
}

// MayBeForeign reports whether a change of the owner needs a pass unless the controller made it: a change of the status, or any change
// if the kind has no generation.
func MayBeForeign(c Change) bool {
	return c.After.GetGeneration() == 0 || statusChanged(c.Before, c.After)
}
