package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// newCacheOptions returns the options for the cache of a manager with the controllers: selectors, a transform, informers
// and a handler of watch errors. Different selectors for one kind are an error, because the controllers share its informer.
func newCacheOptions(scheme *runtime.Scheme, controllers []cachedController) (cache.Options, error) {
	options := cache.Options{Scheme: scheme, ByObject: map[client.Object]cache.ByObject{}}
	var managers []string
	chosen := map[string]*declaration.Kind{}
	by := map[string]string{}
	for _, controller := range controllers {
		managers = append(managers, controller.Managers...)
		for _, k := range controller.Kinds.Installable() {
			name := declaration.Print(k.GroupVersionKind) + " " + string(k.Representation)
			if other, known := chosen[name]; known {
				if other.Selector() != k.Selector() {
					return cache.Options{}, fmt.Errorf("controllers %q and %q share the cache of %s but filter it by %q and %q",
						by[name], controller.Kinds.Controller, declaration.Print(k.GroupVersionKind), other.Selector(), k.Selector())
				}
				continue
			}
			chosen[name], by[name] = k, controller.Kinds.Controller
			if k.Filter != nil {
				options.ByObject[k.Object] = k.Filter.ByObject()
			}
		}
	}
	options.DefaultWatchErrorHandler = watchErrors(controllers)
	options.DefaultTransform = apply.ShortenManagedFields(managers...)
	keepSparsely(scheme, &options, managers, controllers)
	shareInformers(scheme, &options, controllers)
	return options, nil
}

// watchErrors reports to all controllers of a manager why a kind cannot be listed or watched, and logs the error as
// client-go does.
func watchErrors(controllers []cachedController) toolscache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, r *toolscache.Reflector, err error) {
		for _, c := range controllers {
			c.Failed.Note(r.TypeDescription(), err)
		}
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	}
}

// cachedController has the settings of a controller that the cache depends on.
type cachedController struct {
	Kinds    *declaration.Catalogue
	Managers []string                // the field managers whose entries the cache must keep entirely
	Failed   *observe.ListFailures   // receives the error of a kind that could not be listed
	Share    func(*shards.Informers) // receives the informers that request only the owners of the shard, nil if they request all owners
}

// informed identifies an informer.
type informed struct {
	schema.GroupVersionKind
	unstructured bool
}
