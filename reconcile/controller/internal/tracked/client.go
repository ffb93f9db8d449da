package tracked

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Client is the client of the engine. It reads declared kinds from the cache and all others, such as a kind that only
// an earlier version of the operator wrote, from the API server. Its writes disable the client's read-your-writes
// option, which would start an informer for each written representation and might wait forever. Its requests count against the limit of
// a pass, except for statuses, because the status has to report any failure.
type Client struct {
	client.Client
	reads    *Reads
	live     client.Reader
	statuses *trigger.StatusWrites
}

// NewClient returns the client of the engine; live reads from the API server.
func NewClient(c client.Client, reads *Reads, live client.Reader) *Client {
	return &Client{Client: c, reads: reads, live: Limited(live), statuses: &reads.Statuses}
}

var _ client.Client = (*Client)(nil)

// Get reads one object. The read is not tracked: references and names map events of written objects to their owners.
func (c *Client) Get(
	ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption,
) error {
	k, err := c.reads.declared(into)
	if err != nil {
		return c.live.Get(ctx, key, into, opts...) // undeclared kinds are not cached
	}
	return c.reads.get(ctx, k, k.Name(key), into, opts...)
}

// List reads a list as Get reads an object. The result is unsorted; the engine sorts it.
func (c *Client) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	k, err := c.reads.declared(into)
	if err != nil {
		return c.live.List(ctx, into, opts...) // undeclared kinds are not cached
	}
	if k.Link.Known() { // the engine lists only objects of controllers
		opts = append(slices.Clip(opts), client.MatchingFields{sparse.OursField: ""})
	}
	return c.reads.list(ctx, k, into, opts...)
}

// Create implements client.Client.
func (c *Client) Create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	if err := pipeline.CountWrite(ctx); err != nil {
		return err
	}
	return c.Client.Create(ctx, object, append(opts, client.DisableReadYourWritesConsistency)...)
}

// Update implements client.Client.
func (c *Client) Update(ctx context.Context, object client.Object, opts ...client.UpdateOption) error {
	if err := pipeline.CountWrite(ctx); err != nil {
		return err
	}
	return c.Client.Update(ctx, object, append(opts, client.DisableReadYourWritesConsistency)...)
}

// Patch implements client.Client.
func (c *Client) Patch(
	ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption,
) error {
	if err := pipeline.CountWrite(ctx); err != nil {
		return err
	}
	return c.Client.Patch(ctx, object, patch, append(opts, client.DisableReadYourWritesConsistency)...)
}

// Apply implements client.Client.
func (c *Client) Apply(ctx context.Context, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if err := pipeline.CountWrite(ctx); err != nil {
		return err
	}
	return c.Client.Apply(ctx, object, append(opts, client.DisableReadYourWritesConsistency)...)
}

// Delete implements client.Client.
func (c *Client) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	if err := pipeline.CountWrite(ctx); err != nil {
		return err
	}
	return c.Client.Delete(ctx, object, append(opts, client.DisableReadYourWritesConsistency)...)
}

// Status implements client.Client.
func (c *Client) Status() client.SubResourceWriter {
	return statusWriter{c.Client.Status(), c.statuses}
}

// statusWriter writes the statuses of owners.
type statusWriter struct {
	client.SubResourceWriter
	writes *trigger.StatusWrites
}

func (w statusWriter) Update(
	ctx context.Context, object client.Object, opts ...client.SubResourceUpdateOption,
) error {
	return w.SubResourceWriter.Update(ctx, object, append(opts, client.DisableReadYourWritesConsistency)...)
}

func (w statusWriter) Patch(
	ctx context.Context, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption,
) error {
	owner, version := client.ObjectKeyFromObject(object), ""
	w.writes.Begin(owner)
	defer func() { w.writes.End(owner, version) }()
	err := w.SubResourceWriter.Patch(ctx, object, patch, append(opts, client.DisableReadYourWritesConsistency)...)
	if err == nil {
		version = object.GetResourceVersion()
	}
	return err
}
