package multicluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// splitClient writes owners in one cluster and all other objects in another one.
type splitClient struct {
	split[client.Client]

	mapper meta.RESTMapper
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

// Apply implements client.Client. It accepts only objects with their kind: other configurations do not identify the cluster.
func (c *splitClient) Apply(ctx context.Context, configuration runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	object, err := objectOf(configuration)
	if err != nil {
		return err
	}
	return c.of(object).Apply(ctx, configuration, opts...)
}

// objectOf returns the object of a configuration.
func objectOf(configuration runtime.ApplyConfiguration) (runtime.Object, error) {
	object, ok := configuration.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("apply %T across clusters: it does not say its kind", configuration)
	}
	return object, nil
}

// Status returns a client of the status subresource.
func (c *splitClient) Status() client.SubResourceWriter {
	return &splitSubResource{c: c, writer: client.Client.Status}
}

// SubResource returns a client of a subresource.
func (c *splitClient) SubResource(name string) client.SubResourceClient {
	of := func(in client.Client) client.SubResourceClient { return in.SubResource(name) }
	return &splitSubResourceClient{
		splitSubResource: splitSubResource{c: c, writer: func(in client.Client) client.SubResourceWriter { return of(in) }}, reader: of,
	}
}

// Scheme returns the scheme that both clusters share.
func (c *splitClient) Scheme() *runtime.Scheme { return c.scheme }

// RESTMapper returns the mapper of both clusters.
func (c *splitClient) RESTMapper() meta.RESTMapper { return c.mapper }

// GroupVersionKindFor returns the kind of an object.
func (c *splitClient) GroupVersionKindFor(object runtime.Object) (schema.GroupVersionKind, error) {
	return c.of(object).GroupVersionKindFor(object)
}

// IsObjectNamespaced reports whether the kind of the object is namespaced.
func (c *splitClient) IsObjectNamespaced(object runtime.Object) (bool, error) {
	return c.of(object).IsObjectNamespaced(object)
}

// splitSubResource writes a subresource in the cluster of the object.
type splitSubResource struct {
	c      *splitClient
	writer func(client.Client) client.SubResourceWriter
}

// Create implements client.SubResourceWriter.
func (s *splitSubResource) Create(ctx context.Context, object, sub client.Object, opts ...client.SubResourceCreateOption) error {
	return s.writer(s.c.of(object)).Create(ctx, object, sub, opts...)
}

// Update implements client.SubResourceWriter.
func (s *splitSubResource) Update(ctx context.Context, object client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.writer(s.c.of(object)).Update(ctx, object, opts...)
}

// Patch implements client.SubResourceWriter.
func (s *splitSubResource) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.writer(s.c.of(object)).Patch(ctx, object, patch, opts...)
}

// Apply implements client.SubResourceWriter. It accepts only objects with their kind.
func (s *splitSubResource) Apply(ctx context.Context, configuration runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	object, err := objectOf(configuration)
	if err != nil {
		return err
	}
	return s.writer(s.c.of(object)).Apply(ctx, configuration, opts...)
}

// splitSubResourceClient also reads a subresource.
type splitSubResourceClient struct {
	splitSubResource

	reader func(client.Client) client.SubResourceClient
}

// Get implements client.SubResourceReader.
func (s *splitSubResourceClient) Get(ctx context.Context, object, sub client.Object, opts ...client.SubResourceGetOption) error {
	return s.reader(s.c.of(object)).Get(ctx, object, sub, opts...)
}
