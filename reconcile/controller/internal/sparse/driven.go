package sparse

import (
	toolscache "k8s.io/client-go/tools/cache"
)

// The methods of this file are for caches of tests, which move the store of an informer themselves and in steps that can be repeated,
// in the place of Run.

// Begin notes that the informer runs: what wants all objects whole comes too late from then on.
func (i *Informer) Begin() { i.started.Store(true) }

// Reduce returns what the informer puts into its store for an object that it gets. It may change the object.
func (i *Informer) Reduce(object any) (any, error) { return i.reduce(object) }

// Accept returns the handler that the informer gives its events to when it is given h.
func (i *Informer) Accept(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandler, error) {
	return i.accept(h)
}

// TakesMetadata marks the handlers of controllers that can do with the metadata of objects of others, so that a cache that keeps all can say so.
func (*handler) TakesMetadata() {}
