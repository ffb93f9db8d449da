package controller

import (
	"context"
	"errors"
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

// split reads owners in one cluster and all else in another one.
type split[R client.Reader] struct {
	*splitter

	others, ownersIn R
}

func (s *split[R]) of(object runtime.Object) R {
	if s.owners(object) {
		return s.ownersIn
	}
	return s.others
}

// Get reads one object.
func (s *split[R]) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return s.of(into).Get(ctx, key, into, opts...)
}

// List reads a list.
func (s *split[R]) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	return s.of(into).List(ctx, into, opts...)
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

// RemoveInformer ends the informer of a kind.
func (c *splitCache) RemoveInformer(ctx context.Context, object client.Object) error {
	return c.of(object).RemoveInformer(ctx, object)
}

// IndexField adds an index to the informer of a kind.
func (c *splitCache) IndexField(ctx context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	return c.of(object).IndexField(ctx, object, field, extract)
}

// Start is an error: each cluster starts its own.
func (c *splitCache) Start(context.Context) error { return errStartsItself }

var errStartsItself = errors.New("start the caches of two clusters: each cluster starts its own")

// WaitForCacheSync waits for both.
func (c *splitCache) WaitForCacheSync(ctx context.Context) bool {
	return c.ownersIn.WaitForCacheSync(ctx) && c.others.WaitForCacheSync(ctx)
}
