package trigger

import (
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Change is an event: an object before and after, one of them nil where there is none.
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
	// EventInstalled and EventRemoved: an optional kind appeared or went.
	EventInstalled = "installed"
	EventRemoved   = "removed"
)

// Objects are the object before and after, as far as they are there.
func (c Change) Objects() []client.Object {
	return slices.DeleteFunc([]client.Object{c.Before, c.After}, func(o client.Object) bool { return o == nil })
}

// Last is the object as it is now or was last.
func (c Change) Last() client.Object {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

// Resync tells the periodic repetition of what is known from news.
func (c Change) Resync() bool {
	return c.Before != nil && c.After != nil && c.Before.GetResourceVersion() == c.After.GetResourceVersion()
}

// WakesItself reports whether a change of the owner needs a pass, whoever made it: of its spec, or of metadata that the engine
// or a phase may read.
func WakesItself(c Change) bool {
	if c.Before == nil || c.After == nil || c.Resync() {
		return true
	}
	before, after := c.Before, c.After
	return before.GetGeneration() != after.GetGeneration() ||
		before.GetUID() != after.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!slices.Equal(before.GetFinalizers(), after.GetFinalizers())
}

// Edited reports whether a change of the owner is somebody's edit or deletion of an owner that was known before. The engine's first write,
// which adds the finalizer, is none.
func Edited(c Change) bool {
	return c.Before != nil && c.After != nil && !c.Resync() && WakesItself(c) &&
		(!c.After.GetDeletionTimestamp().IsZero() || slices.Equal(c.Before.GetFinalizers(), c.After.GetFinalizers()))
}

// MayBeForeign reports whether a change of the owner needs a pass unless it is the controller's own write: of its status, or of
// anything where the kind has no generation.
func MayBeForeign(c Change) bool {
	return c.After.GetGeneration() == 0 || statusChanged(c.Before, c.After)
}
