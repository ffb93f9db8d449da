package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	c.external.begin(owner)
	return &trackedReader{cachedReads: c, session: s}, s.End
}

// Forget drops what is remembered for an owner that is gone.
func (c *cachedReads) Forget(owner client.ObjectKey) {
	c.tracker.Forget(owner)
	c.lag.forget(owner)
	c.unstable.forget(owner)
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
		return r.outside(ctx, key, into)
	}
	k, err := r.declared(into)
	if err != nil {
		return err
	}
	key = k.name(key)
	r.session.Name(k.index, key)
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
	namespace := k.name(types.NamespacedName{Namespace: options.Namespace}).Namespace
	r.session.List(k.index, namespace, options.LabelSelector, options.FieldSelector)
	if err := r.list(ctx, k, into, opts...); err != nil {
		return r.unindexed(k, options.FieldSelector, err)
	}
	return nil
}

// AbsentError is the answer to the read of an object of an optional kind whose CRD is not installed. It is a NotFound
// (apierrors.IsNotFound) that can be told apart with errors.As.
type AbsentError struct {
	// GVK is the missing kind.
	GVK schema.GroupVersionKind
	// Name is the object that was asked for.
	Name string
}

var _ apierrors.APIStatus = (*AbsentError)(nil)

// Error names the kind whose CRD is missing.
func (e *AbsentError) Error() string {
	return fmt.Sprintf("%s %q not found: the kind is not installed in the cluster", printKind(e.GVK), e.Name)
}

// Status is that of a NotFound.
func (e *AbsentError) Status() metav1.Status {
	return metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: e.Error(),
		Details: &metav1.StatusDetails{Group: e.GVK.Group, Kind: e.GVK.Kind, Name: e.Name},
	}
}

// IsAbsent reports whether the error is that of a read of an optional kind whose CRD is missing: an [AbsentError].
func IsAbsent(err error) bool {
	var absent *AbsentError
	return errors.As(err, &absent)
}
