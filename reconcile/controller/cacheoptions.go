package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/explained"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// Declared is a [Builder] whatever its types.
type Declared interface {
	// Describe reports what the controller does.
	Describe(scheme *runtime.Scheme) (dataflow.Description, error)
	// SetupWithManager adds the controller to the manager.
	SetupWithManager(mgr manager.Manager) error

	resolved(scheme *runtime.Scheme) (*declaration.Catalogue, error)
	caching
	inspected
}

// caching is what the cache needs of a controller.
type caching interface {
	managers() []string
	shares(informers *shards.Informers)
}

// inspected is what readiness, explanations and previews need of a controller.
type inspected interface {
	listFailures() *observe.ListFailures
	explains() *explained.Explainer // nil before the set-up
	previewer(mgr manager.Manager, options PreviewOptions) (previewer, error)
}

// CacheOptions returns the options for the cache of the manager that fit the controllers: the selectors of
// [Filter], a transform that keeps of each object's managed fields only what the engine needs, informers that keep of Secrets and ConfigMaps
// of others the metadata only (see [Whole]), and a handler that gives the readiness checks the reason why a kind cannot be listed. The informer of owners that are shared by a [Shard] asks for those of its own. Two controllers of one manager that want different selectors for a kind are an error, as they share its informer.
func CacheOptions(scheme *runtime.Scheme, controllers ...Declared) (cache.Options, error) {
	options := cache.Options{Scheme: scheme, ByObject: map[client.Object]cache.ByObject{}}
	var managers []string
	chosen := map[string]*declaration.Kind{}
	by := map[string]string{}
	for _, controller := range controllers {
		managers = append(managers, controller.managers()...)
		kinds, err := controller.resolved(scheme)
		if err != nil {
			return cache.Options{}, err
		}
		for _, k := range kinds.Installable() {
			name := declaration.Print(k.GroupVersionKind) + " " + string(k.Representation)
			if other, known := chosen[name]; known {
				if other.Selector() != k.Selector() {
					return cache.Options{}, fmt.Errorf("controllers %q and %q share the cache of %s but filter it by %q and %q",
						by[name], kinds.Controller, declaration.Print(k.GroupVersionKind), other.Selector(), k.Selector())
				}
				continue
			}
			chosen[name], by[name] = k, kinds.Controller
			if k.Filter != nil {
				options.ByObject[k.Object] = k.Filter.ByObject()
			}
		}
	}
	options.DefaultWatchErrorHandler = watchErrors(controllers)
	options.DefaultTransform = apply.ShortenManagedFields(managers...)
	if err := keepSparsely(scheme, &options, managers, controllers); err != nil {
		return options, err
	}
	return options, shareInformers(scheme, &options, controllers)
}

// watchErrors tells all controllers of a manager why a kind cannot be listed or watched, and logs it as client-go does.
func watchErrors(controllers []Declared) toolscache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, r *toolscache.Reflector, err error) {
		for _, c := range controllers {
			c.listFailures().Note(r.TypeDescription(), err)
		}
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	}
}
