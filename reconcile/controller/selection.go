package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// releasePoll is the interval at which unreleased owners that left the cache are read again: no event reports their
// changes.
const releasePoll = 15 * time.Second

// selectedOwners reads the owners that a controller selects. An owner that it does not select is not found, so the pipeline
// drops its state. The finalizer of the controller is removed from it, unless the owner is being deleted and must be
// finalized.
type selectedOwners struct {
	client.Reader // of the cache

	Kind    *declaration.Kind
	Live    client.Reader // of the API server: the cache may contain only the selected owners
	Writer  client.Writer // nil releases nothing
	Manager string        // the field manager of the release

	left sync.Map // names of owners that are not in the cache and may have the finalizer
}

// Get reads an owner. It returns a conflict if an owner to release has changed since it was read; the pipeline reads it
// again.
func (r *selectedOwners) Get(ctx context.Context, key client.ObjectKey, owner client.Object, opts ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, owner, opts...)
	_, left := r.left.Load(key)
	switch {
	case left && apierrors.IsNotFound(err):
		if err := r.Live.Get(ctx, key, owner); err != nil {
			if apierrors.IsNotFound(err) {
				r.left.Delete(key)
			}
			return err
		}
	case err != nil:
		return err
	default:
		left = false
		r.left.Delete(key)
	}
	if !owner.GetDeletionTimestamp().IsZero() && r.Kind.Finalizes(owner) {
		return nil
	}
	selected, err := r.Kind.Selects(owner)
	switch {
	case err != nil:
		return err
	case selected && (!left || r.Kind.ServerField() == ""):
		return nil // the selector of the API server excludes owners that left the cache
	case r.Writer != nil && r.Kind.Finalizes(owner):
		if err := r.release(ctx, owner); err != nil {
			return err
		}
		log.FromContext(ctx).Info("the owner is no longer selected: removed the finalizer, deleted nothing", "selection", r.Kind.Selection())
	}
	r.left.Delete(key)
	return apierrors.NewNotFound(schema.GroupResource{Group: r.Kind.Group, Resource: r.Kind.Kind}, key.Name)
}

// Leave records an owner that left the cache.
func (r *selectedOwners) Leave(owner types.NamespacedName) { r.left.Store(owner, nil) }

// release removes the finalizer if the owner has not changed since it was read.
func (r *selectedOwners) release(ctx context.Context, owner client.Object) error {
	rest := slices.DeleteFunc(slices.Clone(owner.GetFinalizers()), func(f string) bool { return f == r.Kind.Finalizer })
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": owner.GetUID(), "resourceVersion": owner.GetResourceVersion(), "finalizers": rest,
	}})
	if err != nil {
		return err
	}
	into := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: owner.GetName()}}
	into.SetGroupVersionKind(r.Kind.GroupVersionKind)
	err = r.Writer.Patch(ctx, into, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(r.Manager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer of an owner that is no longer selected: %w", err)
	}
	return nil
}

// releases enqueues the owners outside the cache that must be released or finalized, if the cache contains only the
// selected owners.
type releases struct {
	*selectedOwners

	cache     cache.Cache
	informers *shards.Informers
	found     chan event.GenericEvent
}

var _ manager.LeaderElectionRunnable = (*releases)(nil)

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*releases) NeedLeaderElection() bool { return true }

// Start searches once for owners that stopped matching while no process was running. It enqueues these, and those that stop
// matching later, until they are released.
func (r *releases) Start(ctx context.Context) error {
	looked := false
	for {
		if !looked {
			err := r.look(ctx)
			if looked = err == nil; !looked && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "look for owners that are no longer selected")
			}
		}
		r.left.Range(func(key, _ any) bool {
			owner := declaration.MetadataOf(r.Kind.GroupVersionKind)
			name := key.(types.NamespacedName) //nolint:forcetypeassert // only Leave stores keys
			owner.Namespace, owner.Name = name.Namespace, name.Name
			select {
			case r.found <- event.GenericEvent{Object: owner}:
			case <-ctx.Done():
			}
			return ctx.Err() == nil
		})
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(releasePoll):
		}
	}
}

// look lists the owners from the API server and records those with the finalizer that are not in the cache.
func (r *releases) look(ctx context.Context) error {
	if _, err := r.cache.GetInformer(ctx, r.Kind.Object); err != nil { // it has synced and is in the list of informers
		return fmt.Errorf("wait for the cache of the owners: %w", err)
	}
	var errs []error
	err := r.informers.All(ctx, func(owner client.Object) {
		if !r.Kind.Finalizes(owner) {
			return
		}
		key := client.ObjectKeyFromObject(owner)
		switch err := r.Reader.Get(ctx, key, owner); {
		case apierrors.IsNotFound(err):
			r.Leave(key)
		case err != nil:
			errs = append(errs, err)
		}
	})
	return errors.Join(append(errs, err)...)
}

// releaseOwners adds the search for owners to release, if the cache contains only the selected owners.
func (c *Controller) releaseOwners(mgr manager.Manager, controller ctrlcontroller.Controller) error {
	if c.selected == nil || c.informers == nil {
		return nil
	}
	r := &releases{selectedOwners: c.selected, cache: mgr.GetCache(), informers: c.informers, found: make(chan event.GenericEvent)}
	if err := controller.Watch(source.Channel(r.found, &handler.EnqueueRequestForObject{})); err != nil {
		return err
	}
	return mgr.Add(r)
}

// checkFilter returns an error if the owners are selected by a field by which the cache does not filter.
func (c *Controller) checkFilter(owner *declaration.Kind) error {
	field := owner.ServerField()
	if field == "" || c.informers != nil {
		return nil
	}
	return fmt.Errorf("controller %q: option Filter of Owners: only the API server evaluates %s: make the manager with the cache options that CacheOptions "+
		"returns for this controller, with no other controller that uses objects of the kind, or select with Where", c.name, field)
}
