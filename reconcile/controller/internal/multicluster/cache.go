package multicluster

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// splitCache reads from the informers of both clusters.
type splitCache struct{ split[cache.Cache] }

// GetInformer returns the informer of a kind.
func (c *splitCache) GetInformer(ctx context.Context, object client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	return c.of(object).GetInformer(ctx, object, opts...)
}

// GetInformerForKind returns the informer of a kind.
func (c *splitCache) GetInformerForKind(
	ctx context.Context, kind schema.GroupVersionKind, opts ...cache.InformerGetOption,
) (cache.Informer, error) {
	if c.ownersKind(kind.GroupKind()) {
		return c.ownersIn.GetInformerForKind(ctx, kind, opts...)
	}
	return c.others.GetInformerForKind(ctx, kind, opts...)
}

// RemoveInformer stops the informer of a kind.
func (c *splitCache) RemoveInformer(ctx context.Context, object client.Object) error {
	return c.of(object).RemoveInformer(ctx, object)
}

// IndexField adds an index to the informer of a kind.
func (c *splitCache) IndexField(ctx context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	return c.of(object).IndexField(ctx, object, field, extract)
}

// Start returns an error: each cluster starts its own cache.
func (c *splitCache) Start(context.Context) error { return errStartsItself }

var errStartsItself = errors.New("start the caches of two clusters: each cluster starts its own")

// WaitForCacheSync waits for both caches.
func (c *splitCache) WaitForCacheSync(ctx context.Context) bool {
	return c.ownersIn.WaitForCacheSync(ctx) && c.others.WaitForCacheSync(ctx)
}
