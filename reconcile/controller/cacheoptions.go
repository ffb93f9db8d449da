package controller

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// CacheOptions returns the options for the manager's cache that the controllers need: the selectors of [Filter]; a
// transform that drops the managed fields that the engine does not need; informers that store only the metadata of Secrets
// and ConfigMaps that the operator neither owns nor reads (see [Whole]); and a handler that reports to the readiness checks
// why a kind cannot be listed. The informer of owners that are divided by a [Shard] requests only the owners of the
// process's shard. Controllers of one manager share the informer of a kind, so different selectors for one kind are an
// error.
func CacheOptions(scheme *runtime.Scheme, controllers ...*Controller) (cache.Options, error) {
	cached := make([]cachedController, 0, len(controllers))
	for _, c := range controllers {
		of, err := c.cached(scheme)
		if err != nil {
			return cache.Options{}, err
		}
		cached = append(cached, of)
	}
	return newCacheOptions(scheme, cached)
}

// cached returns the settings of the controller that the cache depends on.
func (c *Controller) cached(scheme *runtime.Scheme) (cachedController, error) {
	kinds, err := c.resolved(scheme)
	return cachedController{
		Kinds: kinds, Managers: append([]string{c.names().FieldManager}, c.options.Apply.FormerManagers...), Failed: c.failed,
		Share: func(informers *shards.Informers) { c.informers = informers },
	}, err
}
