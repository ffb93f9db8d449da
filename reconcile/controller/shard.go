package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// Shard is the part of the owners that a process reconciles, so that several processes divide them. Every process runs with the name of
// its shard. Several processes of one shard elect a leader with a lease of the shard.
//
// With a cache with [CacheOptions], a process watches only the owners of its shard: the API server selects them by the Label, or, for a
// Count, by the hash of their UID. The latter requires an API server with sharded lists and watches (KEP-5866, alpha in 1.36 behind the
// feature gate ShardedListAndWatch); without them each process watches all owners and reconciles the same ones. FetchRemoteState then
// reads no other owners, unless Reads declares their kind, which makes each process watch all of them.
//
// While the Count and the labels stay the same, one process reconciles an owner at a time. While they change, the former and the new
// process of an owner may both reconcile it for as long as a reconciliation takes, or until all processes run with the new Count. They plan
// the same, so objects in the cluster end as planned; a child has the same name in both, and neither prunes what the other wrote. If
// external resources need more than that, stop all processes before the change.
//
// Each process watches all children. A child must be planned by one owner: use one process for shared children, contributions and groups.
// Stop all processes without a Shard before the first one with a Shard starts, and vice versa.
//
//	type Shard struct {
//		// Name is the name of the shard of this process. Required.
//		Name string
//		// Count is the number of shards, at most 64, with the names "0" to Count-1. Owners are assigned by a hash of their UID, the one of
//		// the API server, and a shard is a set of its ranges. An additional shard takes an equal part of each of the others; no owner
//		// moves between existing shards. A Name that is not below Count is that of a removed shard: its process reconciles no owner.
//		Count int
//		// Label is the key of the label with the name of an owner's shard. Owners without it are in no shard. Either Count or Label is
//		// required.
//		Label string
//	}
type Shard = shards.Shard

// shardOwners reads the owners of a shard. An owner of another shard is not found, so the pipeline drops its state.
type shardOwners struct {
	client.Reader

	kind schema.GroupVersionKind
	has  func(owner client.Object) bool
}

// Get reads an owner of the shard. The cache may contain the owners of other shards.
func (r shardOwners) Get(ctx context.Context, key client.ObjectKey, owner client.Object, opts ...client.GetOption) error {
	if err := r.Reader.Get(ctx, key, owner, opts...); err != nil {
		return err
	}
	if !r.has(owner) {
		return apierrors.NewNotFound(schema.GroupResource{Group: r.kind.Group, Resource: r.kind.Kind}, key.Name)
	}
	return nil
}
