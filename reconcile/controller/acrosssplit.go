package controller

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// splitter tells the kind of the owners from all others.
type splitter struct {
	scheme *runtime.Scheme
	owner  schema.GroupKind
}

// owners reports whether the object or the list is of the owners' kind.
func (s *splitter) owners(object runtime.Object) bool {
	gvk, err := apiutil.GVKForObject(object, s.scheme)
	return err == nil && s.ownersKind(gvk.GroupKind()) // an error is reported by whoever gets the object
}

func (s *splitter) ownersKind(kind schema.GroupKind) bool {
	return kind.Group == s.owner.Group && strings.TrimSuffix(kind.Kind, "List") == s.owner.Kind
}

// splitReader reads owners in one cluster and all else in another one.
type splitReader struct {
	*splitter

	others, ownersIn client.Reader
}

func (r *splitReader) of(object runtime.Object) client.Reader {
	if r.owners(object) {
		return r.ownersIn
	}
	return r.others
}

// Get reads one object.
func (r *splitReader) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return r.of(into).Get(ctx, key, into, opts...)
}

// List reads a list.
func (r *splitReader) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	return r.of(into).List(ctx, into, opts...)
}

// splitMapper looks for the kind of the owners in one cluster and for all others in another one.
type splitMapper struct {
	meta.RESTMapper // of the others
	*splitter

	ownersIn meta.RESTMapper
}

func (m *splitMapper) of(kind schema.GroupKind) meta.RESTMapper {
	if m.ownersKind(kind) {
		return m.ownersIn
	}
	return m.RESTMapper
}

// RESTMapping returns the resource of a kind.
func (m *splitMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return m.of(kind).RESTMapping(kind, versions...)
}

// RESTMappings returns the resources of a kind.
func (m *splitMapper) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return m.of(kind).RESTMappings(kind, versions...)
}

// splitCache has the informers of both clusters.
type splitCache struct {
	cache.Cache // of the others
	*splitter

	ownersIn cache.Cache
}

func (c *splitCache) of(object runtime.Object) cache.Cache {
	if c.owners(object) {
		return c.ownersIn
	}
	return c.Cache
}

// Get reads one object.
func (c *splitCache) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return c.of(into).Get(ctx, key, into, opts...)
}

// List reads a list.
func (c *splitCache) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	return c.of(into).List(ctx, into, opts...)
}

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
	return c.Cache.GetInformerForKind(ctx, kind, opts...)
}

// RemoveInformer ends the informer of a kind.
func (c *splitCache) RemoveInformer(ctx context.Context, object client.Object) error {
	return c.of(object).RemoveInformer(ctx, object)
}

// IndexField adds an index to the informer of a kind.
func (c *splitCache) IndexField(ctx context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	return c.of(object).IndexField(ctx, object, field, extract)
}

// WaitForCacheSync waits for both.
func (c *splitCache) WaitForCacheSync(ctx context.Context) bool {
	return c.ownersIn.WaitForCacheSync(ctx) && c.Cache.WaitForCacheSync(ctx)
}

// splitClient writes owners in one cluster and all else in another one.
type splitClient struct {
	client.Client // of the others
	*splitter

	ownersIn client.Client
	mapper   meta.RESTMapper
}

func (c *splitClient) of(object runtime.Object) client.Client {
	if c.owners(object) {
		return c.ownersIn
	}
	return c.Client
}

// Get reads one object.
func (c *splitClient) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return c.of(into).Get(ctx, key, into, opts...)
}

// List reads a list.
func (c *splitClient) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	return c.of(into).List(ctx, into, opts...)
}

// Create implements client.Client.
func (c *splitClient) Create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	return c.of(object).Create(ctx, object, opts...)
}

// Update implements client.Client.
func (c *splitClient) Update(ctx context.Context, object client.Object, opts ...client.UpdateOption) error {
	return c.of(object).Update(ctx, object, opts...)
}

// Patch implements client.Client.
func (c *splitClient) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.of(object).Patch(ctx, object, patch, opts...)
}

// Delete implements client.Client.
func (c *splitClient) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	return c.of(object).Delete(ctx, object, opts...)
}

// DeleteAllOf implements client.Client.
func (c *splitClient) DeleteAllOf(ctx context.Context, object client.Object, opts ...client.DeleteAllOfOption) error {
	return c.of(object).DeleteAllOf(ctx, object, opts...)
}

// Apply takes an object with its kind: other configurations do not say in which cluster they belong.
func (c *splitClient) Apply(ctx context.Context, configuration runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	object, ok := configuration.(runtime.Object)
	if !ok {
		return fmt.Errorf("apply %T across clusters: it does not say its kind", configuration)
	}
	return c.of(object).Apply(ctx, configuration, opts...)
}

// Status writes statuses of owners: the SDK writes no others.
func (c *splitClient) Status() client.SubResourceWriter { return c.ownersIn.Status() }

// RESTMapper returns the mapper of both clusters.
func (c *splitClient) RESTMapper() meta.RESTMapper { return c.mapper }

// IsObjectNamespaced reports whether objects of the kind are in namespaces.
func (c *splitClient) IsObjectNamespaced(object runtime.Object) (bool, error) {
	return c.of(object).IsObjectNamespaced(object)
}
