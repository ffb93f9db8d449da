package shardclaims

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// unconfirmed is the UID of an owner that this process may have claimed.
const unconfirmed types.UID = ""

// Reader reads owners. It returns not found for an owner that this process must not reconcile, so that the pipeline drops its state. Each
// pass calls it first, and one pass of an owner runs at a time, so no pass of a released owner runs.
type Reader struct {
	client.Reader
	shards.Part

	Live       client.Reader // reads from the API server: the cache may have only the owners of this shard
	Writer     client.Writer
	Kind       schema.GroupVersionKind // the kind of the owners
	Annotation string                  // the annotation with the claim
	Manager    string                  // the field manager of claims

	claimed sync.Map // names of owners to their UID after the API server has confirmed the claim of this process; else to unconfirmed
}

// Get reads an owner of the shard and claims it. It returns a conflict until the cache shows the claim, so that no reconciliation
// writes to the owner with a resourceVersion that the claim has replaced. The pipeline reads the owner again after a conflict. It
// cannot rely on an event: the change that the cache does not show yet may be the controller's own status write, whose event does not
// enqueue the owner.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, owner client.Object, opts ...client.GetOption) error {
	if err := r.Reader.Get(ctx, key, owner, opts...); err != nil {
		if back := r.left(ctx, key, err); back != nil {
			return back
		}
		return err
	}
	mine, holder := r.Of(owner) == r.Name, owner.GetAnnotations()[r.Annotation]
	confirmed, _ := r.claimed.Load(key)
	switch {
	case mine && holder == r.Name && confirmed == owner.GetUID():
		return nil
	case mine && (holder == r.Name || holder == ""):
		return r.claim(ctx, key, owner)
	case holder == r.Name:
		if err := r.giveBack(ctx, key, owner); err != nil {
			return err
		}
	default:
		r.claimed.Delete(key) // the annotation names another shard: ask again when it names this one
	}
	return apierrors.NewNotFound(r.resource(), key.Name)
}

// claim claims an owner of the shard, or asks the API server whether the cached claim still exists. It returns a conflict until the cache
// shows the claim.
func (r *Reader) claim(ctx context.Context, key client.ObjectKey, owner client.Object) error {
	version, err := r.patch(ctx, owner, r.Name)
	if err != nil {
		return fmt.Errorf("claim it for shard %q: %w", r.Name, err)
	}
	r.claimed.Store(key, owner.GetUID())
	if version != owner.GetResourceVersion() {
		return apierrors.NewConflict(r.resource(), key.Name, errUnseen)
	}
	return nil
}

// errUnseen is the cause of a conflict after a claim.
var errUnseen = errors.New("the cache does not show the claim yet")

// resource returns the resource of the owners for errors.
func (r *Reader) resource() schema.GroupResource {
	return schema.GroupResource{Group: r.Kind.Group, Resource: r.Kind.Kind}
}

// left releases an owner that is not in the cache, if it has moved to another shard and unread is only that it was not found.
func (r *Reader) left(ctx context.Context, key client.ObjectKey, unread error) error {
	confirmed, claimed := r.claimed.Load(key)
	if !apierrors.IsNotFound(unread) || !claimed || confirmed != unconfirmed && !r.Moves {
		r.claimed.Delete(key)
		return nil
	}
	owner := declaration.MetadataOf(r.Kind)
	if err := r.Live.Get(ctx, key, owner); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("look whether it has come to another shard: %w", err)
	}
	if owner.Annotations[r.Annotation] == r.Name && r.Of(owner) != r.Name {
		return r.giveBack(ctx, key, owner)
	}
	r.claimed.Delete(key)
	return nil
}

// giveBack releases the claim of this process. Until the API server confirms the release, the claim counts as unconfirmed.
func (r *Reader) giveBack(ctx context.Context, key client.ObjectKey, owner client.Object) error {
	r.claimed.Store(key, unconfirmed)
	if _, err := r.patch(ctx, owner, nil); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("give it back, for shard %q: %w", r.Of(owner), err)
	}
	r.claimed.Delete(key)
	return nil
}

// patch writes the annotation, if the owner is unchanged since the cached version. A nil holder removes it. It returns the new
// resourceVersion.
func (r *Reader) patch(ctx context.Context, owner client.Object, holder any) (version string, err error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": owner.GetUID(), "resourceVersion": owner.GetResourceVersion(), "annotations": map[string]any{r.Annotation: holder},
	}})
	if err != nil {
		return "", err
	}
	into := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: owner.GetName()}}
	into.SetGroupVersionKind(r.Kind) // cached objects are shared
	err = r.Writer.Patch(ctx, into, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(r.Manager))
	return into.ResourceVersion, err
}
