// Package shards divides owners into shards, and restricts the informers of a process to the owners of one shard.
package shards
