package sparse

import (
	toolscache "k8s.io/client-go/tools/cache"
)

// The methods of this file are for caches of tests, which drive the store of an informer themselves, in repeatable steps, instead of
// calling Run.

// Begin marks the informer as running: a later request to keep all objects in full fails.
func (i *Informer) Begin() { i.started.Store(true) }

// Reduce returns the form in which the informer stores an object. It may change the object.
func (i *Informer) Reduce(object any) (any, error) { return i.reduce(object) }

// Accept returns the handler that receives the events for h.
func (i *Informer) Accept(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandler, error) {
	return i.accept(h)
}

// TakesMetadata marks the handlers of controllers that accept metadata of other objects, for caches that keep all objects.
func (*handler) TakesMetadata() {}
