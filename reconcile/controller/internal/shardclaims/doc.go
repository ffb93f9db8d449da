// Package shardclaims keeps two processes from working on one owner: a shard claims an owner before its first pass, gives it back when it
// has come to another shard, and tells of owners that another shard does not give back.
package shardclaims
