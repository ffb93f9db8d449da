package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
)

// Begin starts a pass of the owner, see [reconcile.Tracker].
func (c *cachedReads) Begin(owner client.ObjectKey) (r reconcile.Reader, end func()) {
	s := c.tracker.Begin(owner, tracking.ScopeRead)
	c.noteOptional(owner)
	c.external.Begin(owner)
	return &trackedReader{cachedReads: c, session: s}, s.End
}

// Forget drops what is remembered for an owner that is gone.
func (c *cachedReads) Forget(owner client.ObjectKey) {
	c.tracker.Forget(owner)
	c.lag.forget(owner)
	c.unstable.Forget(owner)
	c.begun.Delete(owner)
}

var _ reconcile.Tracker = (*cachedReads)(nil)

// trackedReader reads declared kinds from the cache and remembers every read for the owner before it happens.
type trackedReader struct {
	*cachedReads
	session *tracking.Session
}

var _ client.Reader = (*trackedReader)(nil)

// Get reads one object. That it is missing is remembered like that it is there.
func (r *trackedReader) Get(
	ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption,
) error {
	switch into := into.(type) {
	case *Group:
		return r.group(key, into)
	case *external.Object:
		return r.external.Get(ctx, r.session, key, into)
	}
	k, err := r.declared(into)
	if err != nil {
		return err
	}
	key = k.Name(key)
	r.session.Name(k.Index, key)
	return r.get(ctx, k, key, into, opts...)
}

// List reads all objects that the options select, sorted by namespace and name. What is remembered is the selection, not
// the objects, so that objects that enter or leave it later are noticed.
func (r *trackedReader) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	k, err := r.declared(into)
	if err != nil {
		return err
	}
	var options client.ListOptions
	options.ApplyOptions(opts)
	namespace := k.Name(types.NamespacedName{Namespace: options.Namespace}).Namespace
	r.session.List(k.Index, namespace, options.LabelSelector, options.FieldSelector)
	if err := r.list(ctx, k, into, opts...); err != nil {
		return r.unindexed(k, options.FieldSelector, err)
	}
	return nil
}
