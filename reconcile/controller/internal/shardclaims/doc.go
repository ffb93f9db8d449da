// Package shardclaims prevents two processes from reconciling one owner. A shard claims an owner before its first pass and releases it when
// the owner has moved to another shard. The package reports owners that another shard does not release.
package shardclaims
