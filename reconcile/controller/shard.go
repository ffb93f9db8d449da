package controller

import (
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// Shard is the part of the owners that a process works on, so that several processes share them. Every process runs with the name of its
// shard; where several run for one shard, they elect a leader with a lease of that shard.
//
// A process claims an owner with the annotation shard.reconcilekit.dev/<controller> before its first pass, and gives it back when the owner has come
// to another shard and no pass of it runs any more; that one waits until then. So no two work on one owner, also while labels or the number of shards
// change. What a shard has claimed stays claimed while no process runs for it: start one, or remove the annotation when there will be none.
// A process without a Shard looks at no claims: end all of them before the first one with a Shard starts, and the other way round.
//
// With a Count or a Label, and a cache that [CacheOptions] describes, a process watches the owners of its shard alone. A Count needs an API server with
// sharded lists and watches for that (KEP-5866, alpha in 1.36 behind the feature gate ShardedListAndWatch); of one without, each process watches
// all owners and does the same. FetchRemoteState reads no other owners then, unless Reads declares their kind, which makes each process watch all of them.
// Claims of owners that a process does not watch, it looks for at the API server: as it starts, soon after, and every ten minutes.
//
// Each process watches all children. They are planned by one owner: those that several plan, contributions, and groups are
// for one process.
//
//	type Shard struct {
//		// Name is that of the shard of this process. Required.
//		Name string
//		// Count is the number of shards, 64 at most, named "0" to the last, into which owners come by a hash of their UID. It is that of the
//		// API server, and a shard is ranges of it. One shard more takes an equal part of each of the others; no owner moves between those that were there.
//		// A Name that is not below the Count is that of a shard which there is no more: its process gives back what it has claimed.
//		Count int
//		// Label is the key of the label that names the shard of an owner. Owners without it are in no shard.
//		Label string
//		// Of returns the name of the shard that an owner is in, empty for none: a function of the owner's metadata that gives the same
//		// in all processes. Each process watches all owners. One of Count, Label and Of is required.
//		Of func(owner client.Object) string
//	}
type Shard = shards.Shard
