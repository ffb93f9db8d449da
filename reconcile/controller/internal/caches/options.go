package caches

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

// Options returns the options for the cache of a manager that fit the controllers: selectors, a transform, informers and a handler of watch
// errors. Two controllers that want different selectors for a kind are an error, as they share its informer.
func Options(scheme *runtime.Scheme, controllers []Controller) (cache.Options, error) {
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

// watchErrors tells all controllers of a manager why a kind cannot be listed or watched, and logs it as client-go does.
func watchErrors(controllers []Controller) toolscache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, r *toolscache.Reflector, err error) {
		for _, c := range controllers {
			c.Failed.Note(r.TypeDescription(), err)
		}
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	}
}
