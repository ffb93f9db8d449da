package tracked

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Begin starts a pass of the owner, see [pipeline.Tracker].
func (c *Reads) Begin(owner client.ObjectKey) (r reconcile.Reader, end func()) {
	s := c.Tracker.Begin(owner, tracking.ScopeRead)
	c.noteOptional(owner)
	c.Outside.Begin(owner)
	return &Reader{Reads: c, session: s}, s.End
}

// Forget drops the record of a deleted owner.
func (c *Reads) Forget(owner client.ObjectKey) {
	c.Tracker.Forget(owner)
	c.Pending.forget(owner)
	c.Unstable.Forget(owner)
	c.Pace.Forget(owner)
	c.begun.Delete(owner)
}

var _ pipeline.Tracker = (*Reads)(nil)

// Reader reads declared kinds from the cache, and records every read for the owner before it happens.
type Reader struct {
	*Reads
	session *tracking.Session
}

var _ client.Reader = (*Reader)(nil)

// Get reads one object. It also records the read of a missing object.
func (r *Reader) Get(
	ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption,
) error {
	if _, group := into.(groupkey.Group); group {
		return r.answers.Group(r.session, key, into)
	}
	if thing, ok := into.(*external.Object); ok {
		return r.Outside.Get(ctx, r.session, key, thing)
	}
	k, err := r.declared(into)
	if err != nil {
		return err
	}
	key = k.Name(key)
	if err := r.whole(k, key); err != nil {
		return err
	}
	r.session.Name(k.Index, key)
	return r.get(ctx, k, key, into, opts...)
}

// List reads all objects that the options select, sorted by namespace and name. It records the selection, not the objects, so that
// objects that enter or leave it later enqueue the owner.
func (r *Reader) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	k, err := r.declared(into)
	if err != nil {
		return err
	}
	if err := r.whole(k, client.ObjectKey{}); err != nil {
		return err
	}
	var options client.ListOptions
	options.ApplyOptions(opts)
	namespace := k.Name(types.NamespacedName{Namespace: options.Namespace}).Namespace
	r.session.List(k.Index, namespace, options.LabelSelector, options.FieldSelector)
	if err := k.Unindexed(options.FieldSelector, namespace); err != nil {
		return err
	}
	if err := r.sorted(ctx, k, into, opts...); err != nil {
		return r.unindexed(k, options.FieldSelector, err)
	}
	return nil
}

// whole refuses reads of owners if the cache has only some of them, except for the owner of the pass.
func (r *Reader) whole(k *declaration.Kind, key client.ObjectKey) error {
	if k.Shared == (shards.Selection{}) || key == r.session.Owner() {
		return nil
	}
	return declaration.NewMistake(declaration.ReasonPartCached, fmt.Errorf("read %s: this process watches only the owners of its shard and of its selection: add %s to the builder of "+
		"controller %q, so that it watches all", declaration.Print(k.GroupVersionKind),
		declaration.PurposeReads.Call(r.Example(k.GroupVersionKind)), r.Controller))
}
