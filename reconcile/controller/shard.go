package controller

import (
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// Shard is the part of the owners that a process reconciles, so that several processes divide them. Every process runs with
// the name of its shard. Several processes of one shard elect a leader with a lease of the shard.
//
// A process claims an owner with the annotation shard.reconcilekit.dev/<controller> before its first reconciliation. When
// the owner moves to another shard, the process removes the claim after its last reconciliation has ended; the process of
// the other shard waits until then. So an owner is reconciled by one process at a time, even while labels or the number of
// shards change. Claims of a shard remain while no process runs for it: start one, or remove the annotation if there will
// be none. A process without a Shard ignores claims: stop all of these before the first one with a Shard starts, and vice
// versa.
//
// With a Count or a Label and a cache with [CacheOptions], a process watches only the owners of its shard. For a Count this
// requires an API server with sharded lists and watches (KEP-5866, alpha in 1.36 behind the feature gate
// ShardedListAndWatch); without them each process watches all owners and reconciles the same ones. FetchRemoteState then
// reads no other owners, unless Reads declares their kind, which makes each process watch all of them. A process searches
// the API server for its claims on owners that it does not watch: at its start, soon after, and every ten minutes.
//
// Each process watches all children. A child must be planned by one owner: use one process for shared children,
// contributions and groups.
//
//	type Shard struct {
//		// Name is the name of the shard of this process. Required.
//		Name string
//		// Count is the number of shards, at most 64, with the names "0" to Count-1. Owners are assigned by a hash of their UID, the one of
//		// the API server, and a shard is a set of its ranges. An additional shard takes an equal part of each of the others; no owner
//		// moves between existing shards. A Name that is not below Count is that of a removed shard: its process only removes its claims.
//		Count int
//		// Label is the key of the label with the name of an owner's shard. Owners without it are in no shard.
//		Label string
//		// Of returns the name of an owner's shard, empty for none. It is a function of the owner's metadata and must return the same
//		// name in all processes. Each process watches all owners. One of Count, Label and Of is required.
//		Of func(owner client.Object) string
//	}
type Shard = shards.Shard
