package controller

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// CacheOptions returns the options for the cache of the manager that fit the controllers: the selectors of
// [Filter], a transform that keeps of each object's managed fields only what the engine needs, informers that keep of Secrets and ConfigMaps
// of others the metadata only (see [Whole]), and a handler that gives the readiness checks the reason why a kind cannot be listed. The informer of owners that are shared by a [Shard] asks for those of its own. Two controllers of one manager that want different selectors for a kind are an error, as they share its informer.
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

// cached is what the cache needs of the controller.
func (c *Controller) cached(scheme *runtime.Scheme) (cachedController, error) {
	kinds, err := c.resolved(scheme)
	return cachedController{
		Kinds: kinds, Managers: append([]string{c.names().FieldManager}, c.options.Apply.FormerManagers...), Failed: c.failed,
		Share: func(informers *shards.Informers) { c.informers = informers },
	}, err
}
