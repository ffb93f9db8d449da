package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// shareInformers makes the informers of owners request only the owners of the process's shard, for kinds that all
// controllers divide in the same way.
func shareInformers(scheme *runtime.Scheme, options *cache.Options, controllers []cachedController) {
	selections, owners := map[informed]shards.Selection{}, make([]informed, len(controllers))
	for i, c := range controllers {
		for _, k := range c.Kinds.Installable() {
			as := informed{k.GroupVersionKind, k.Representation == declaration.Unstructured}
			if k == c.Kinds.Kinds[0] {
				owners[i] = as
			}
			if other, known := selections[as]; known && other != k.Shared {
				selections[as] = shards.Selection{}
				continue
			}
			selections[as] = k.Shared
		}
	}
	informers := map[informed]*shards.Informers{}
	for as, selection := range selections {
		if selection != (shards.Selection{}) {
			informers[as] = shards.NewInformers(selection)
		}
	}
	for i, c := range controllers {
		c.Share(informers[owners[i]])
	}
	if len(informers) > 0 {
		next := options.NewInformer
		if next == nil {
			next = toolscache.NewSharedIndexInformer
		}
		options.NewInformer = sharedInformers(scheme, informers, next)
	}
}

// newInformer creates an informer of a cache.
type newInformer = func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// sharedInformers creates informers with next. The informers of shared kinds request only the owners of the shard.
func sharedInformers(scheme *runtime.Scheme, sharing map[informed]*shards.Informers, next newInformer) newInformer {
	return func(all toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		representation := declaration.RepresentationOf(object)
		if kind, err := apiutil.GVKForObject(object, scheme); err == nil && representation != declaration.Metadata {
			if informers := sharing[informed{kind, representation == declaration.Unstructured}]; informers != nil {
				all = informers.Add(all)
			}
		}
		return next(all, object, resync, indexers)
	}
}
