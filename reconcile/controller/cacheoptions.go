package controller

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/caches"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/dryrun"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/explained"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// Declared is a [Builder] whatever its types.
type Declared interface { //nolint:interfacebloat // what the process does with a builder
	// Describe reports what the controller does.
	Describe(scheme *runtime.Scheme) (dataflow.Description, error)
	// SetupWithManager adds the controller to the manager.
	SetupWithManager(mgr manager.Manager) error
	// Share makes the shard the part of the owners that this process works on.
	Share(shard Shard) error
	// StoreClaimsIn sets the namespace that stores the claims of external resources.
	StoreClaimsIn(namespace string)

	caching
	inspected
}

// caching is what the cache needs of a controller.
type caching interface {
	cached(scheme *runtime.Scheme) (caches.Controller, error)
}

// inspected is what explanations, previews and pages need of a controller.
type inspected interface {
	resolved(scheme *runtime.Scheme) (*declaration.Catalogue, error)
	explains() *explained.Explainer // nil before the set-up
	previewer(mgr manager.Manager, options PreviewOptions) (*dryrun.Controller, error)
}

// CacheOptions returns the options for the cache of the manager that fit the controllers: the selectors of
// [Filter], a transform that keeps of each object's managed fields only what the engine needs, informers that keep of Secrets and ConfigMaps
// of others the metadata only (see [Whole]), and a handler that gives the readiness checks the reason why a kind cannot be listed. The informer of owners that are shared by a [Shard] asks for those of its own. Two controllers of one manager that want different selectors for a kind are an error, as they share its informer.
func CacheOptions(scheme *runtime.Scheme, controllers ...Declared) (cache.Options, error) {
	cached := make([]caches.Controller, 0, len(controllers))
	for _, c := range controllers {
		of, err := c.cached(scheme)
		if err != nil {
			return cache.Options{}, err
		}
		cached = append(cached, of)
	}
	return caches.Options(scheme, cached)
}

// cached is what the cache needs of the controller.
func (b *Builder[T, F, O]) cached(scheme *runtime.Scheme) (caches.Controller, error) {
	kinds, err := b.resolved(scheme)
	return caches.Controller{
		Kinds: kinds, Managers: append([]string{b.names().FieldManager}, b.options.Apply.FormerManagers...), Failed: b.failed,
		Share: func(informers *shards.Informers) { b.informers = informers },
	}, err
}
