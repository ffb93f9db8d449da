// Package shards divides owners into shards, and lets the informer of a process ask the API server for the owners of one shard alone.
package shards
